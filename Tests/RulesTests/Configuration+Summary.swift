import Bytes
import Model

@testable import Rules

extension Configuration {
    /// The differences from the defaults, one line each, in words close to the rule file's. Secrets are hidden. It is
    /// for people and for tests, and cannot be read back.
    var summary: String {
        let standard = Configuration()
        var lines = listeners == standard.listeners ? [] : listeners.map(\.summary)
        if let admin {
            let parts = [
                adminLogin.tls.map { _ in "by TLS too" }, adminLogin.users.map { "with the users of \($0)" },
                adminLogin.metricsToken.map { "metrics with the token of \($0)" },
            ]
            lines.append((["admin \(admin)"] + parts.compactMap(\.self)).joined(separator: ", "))
        }
        if case .count(let count) = threads { lines.append("threads \(count)") }
        if let state { lines.append("state \(state)") }
        if let files = authority.files {
            let passphrase = files.passphrase.map { " passphrase \($0)" } ?? ""
            lines.append("authority certificate \(files.certificate) key \(files.key)\(passphrase)")
        }
        if let store { lines.append("store \(store.summary)") }
        lines += authority.names.map { "authority names \($0)" }
        if log.format == .off {
            lines.append("log off")
        } else if log != standard.log {
            lines.append("log \(log.format.rawValue) \(log.destination.words)")
        }
        lines += limits.differences(from: standard.limits)
        lines += timeouts.differences(from: standard.timeouts)
        if clients.allow != standard.clients.allow {
            lines.append("clients allow \(clients.allow.map(\.description).joined(separator: " "))")
        }
        lines += clients.summary
        if clients.realm != standard.clients.realm { lines.append("clients realm \"\(clients.realm)\"") }
        lines += egress.entries.map { "egress \($0.verdict.rawValue) \($0.text)" }
        if egress.connectPorts != standard.egress.connectPorts {
            lines.append("egress connect-ports \(egress.connectPorts)")
        }
        if let traces {
            lines.append("traces to \(traces.collector) as \(traces.serviceName), \(traces.sample) %")
            lines += traces.headers.map { "traces header \($0.name) \($0.value)" }
        }
        lines += credentials.map { "credential \($0.name) \($0.content.summary)\($0.commands.summary)" }
        lines += parents.map(\.summary)
        lines += routes.map(\.summary)
        lines += challenges.map(\.summary)
        return lines.map { $0 + "\n" }.joined()
    }
}

extension Configuration.Log.Destination {
    fileprivate var words: String {
        switch self {
        case .standardOutput: "stdout"
        case .standardError: "stderr"
        case .file(let path): "file \(path)"
        case .syslog(let path): path == Self.systemSocket ? "syslog" : "syslog \(path)"
        }
    }
}

extension Configuration.Limits {
    fileprivate func differences(from standard: Self) -> [String] {
        let named: [(String, KeyPath<Self, Int>)] = [
            ("replay-memory", \.replayMemory), ("replay-disk", \.replayDisk),
            ("replay-disk-total", \.replayDiskTotal), ("start-line", \.startLine), ("head", \.head),
            ("upstream-head", \.upstreamHead), ("fields", \.fields), ("clients", \.clients),
            ("decode-ratio", \.decodeRatio),
        ]
        return named.filter { self[keyPath: $0.1] != standard[keyPath: $0.1] }
            .map { "limits \($0.0) \(self[keyPath: $0.1])" }
            + (clientsPerAddress.map { ["limits clients-per-address \($0)"] } ?? [])
            + (requestsPerClient.map { ["limits requests-per-client \($0)"] } ?? [])
            + (concurrentRequestsPerClient.map { ["limits concurrent-requests-per-client \($0)"] } ?? [])
    }
}

extension Configuration.Timeouts {
    fileprivate func differences(from standard: Self) -> [String] {
        let named: [(String, KeyPath<Self, Milliseconds>)] = [
            ("head", \.head), ("idle", \.idle), ("connect", \.connect), ("response", \.response), ("drain", \.drain),
            ("session", \.session), ("helper", \.helper),
        ]
        return named.filter { self[keyPath: $0.1] != standard[keyPath: $0.1] }
            .map { "timeouts \($0.0) \(self[keyPath: $0.1].duration)" }
    }
}

extension Configuration.ChallengeRule {
    fileprivate var summary: String {
        var words = ["challenge"]
        if let name = rule.name { words.append("\"\(name)\"") }
        for name in predicates.said where name != .until {
            words += predicates[name].values.map { "\(name.rawValue) \($0)" }
        }
        words.append("-> \(action.words)")
        if attempts != usualAttempts { words.append("attempts \(attempts)") }
        if retry != Self.usualRetry { words.append("retry \(Self.retryWords(retry))") }
        if let probe = probe.words { words.append("probe \(probe)") }
        if persistence != .session { words.append("persistence \(persistence.rawValue)") }
        if preemption != .yes { words.append("preempt \(preemption.rawValue)") }
        if !order.isEmpty { words.append("order \(order.map(\.description).joined(separator: " "))") }
        if let authorization { words.append("authorization \(authorization.rawValue)") }
        if let trustTerms { words += trustTerms.words }
        if let answerTerms { words += answerTerms.summary }
        if learns { words.append("learn yes") }
        return words.joined(separator: " ")
    }
}

extension CredentialSource.Kerberos {
    var summary: String {
        switch proof {
        case .keytab(let path): "kerberos \(principal) keytab \(path)"
        case .cache(let path): "kerberos \(principal) ccache \(path)"
        case .password(let password): "kerberos \(principal) password \(password)"
        }
    }
}

extension CredentialSource.OAuth {
    var summary: String {
        var words: [String] = []
        if let endpoint = server.endpoint { words.append("oauth2 \(endpoint)") }
        if let issuer = server.issuer { words.append("issuer \(issuer)") }
        if let clientID { words.append("client-id \(clientID)") }
        switch proof {
        case .none: break
        case .secret(let secret, let inBody):
            words.append("client-secret \(secret)\(inBody ? " client-authentication post" : "")")
        case .key(let path, let passphrase, let id, let audience):
            words.append("key \(path)")
            if let passphrase { words.append("passphrase \(passphrase)") }
            if let id { words.append("key-id \(id)") }
            if let audience { words.append("assertion-audience \(audience)") }
        case .certificate(let path, let key, let passphrase):
            words.append("certificate \(path) key \(key)")
            if let passphrase { words.append("passphrase \(passphrase)") }
        case .assertion(let token): words.append("client-assertion \(token.summary)")
        }
        switch grant {
        case .clientCredentials: break
        case .refreshToken(let token): words.append("refresh-token \(token)")
        case .assertion(let token): words.append("assertion \(token.summary)")
        case .signed(let key, let passphrase, let id, let audience, let subject):
            words.append("assertion key \(key)")
            if let passphrase { words.append("passphrase \(passphrase)") }
            if let id { words.append("key-id \(id)") }
            if let audience { words.append("assertion-audience \(audience)") }
            if let subject { words.append("subject \(subject)") }
        case .exchange(let subject, let actor, let requested):
            words.append("subject-token \(subject.summary) \(subject.type.rawValue)")
            if let actor { words.append("actor-token \(actor.summary) \(actor.type.rawValue)") }
            if let requested { words.append("requested \(requested.rawValue)") }
        }
        switch resource {
        case .none: if server.issuer != nil { words.append("resource none") }
        case .auto: words.append("resource auto")
        case .url(let url): words.append("resource \(url)")
        }
        for parameter in parameters { words.append("parameter \(parameter.name) \(parameter.value)") }
        if !scopes.isEmpty { words.append("scope \(scopes.joined(separator: " "))") }
        if let audience { words.append("audience \(audience)") }
        return words.joined(separator: " ")
    }
}

extension TokenSource {
    fileprivate var summary: String {
        switch origin {
        case .value(let value): "\(value)"
        case .credential(let name): "credential \(name)"
        }
    }
}

extension SignatureSource {
    var summary: String {
        switch self {
        case .aws(let source): source.summary
        case .oauth1(let source): source.summary
        case .message(let source):
            "sign key \(source.key)" + (source.passphrase.map { " passphrase \($0)" } ?? "") + " agent \(source.agent)"
        }
    }
}

extension SignatureSource.OAuth1 {
    var summary: String {
        var words = ["oauth1 \(method.rawValue) consumer-key \(consumerKey)"]
        switch proof {
        case .secret(let secret): words.append("consumer-secret \(secret)")
        case .key(let path, let passphrase):
            words.append("key \(path)")
            if let passphrase { words.append("passphrase \(passphrase)") }
        }
        if let token {
            words.append("access-token \(token.identifier)")
            if let secret = token.secret { words.append("token-secret \(secret)") }
        }
        if let realm { words.append("realm \(realm)") }
        if !signsPayload { words.append("payload unsigned") }
        return words.joined(separator: " ")
    }
}

extension SignatureSource.AWS {
    var summary: String {
        let source =
            switch keys {
            case .values(let access, let secret, let token):
                "access-key \(access) secret-key \(secret)\(token.map { " session-token \($0)" } ?? "")"
            case .helper(let helper): helper.summary
            }
        return "aws \(region) \(service) \(source)"
            + (signsPayload ? "" : " payload unsigned")
    }
}

extension Configuration.Parent {
    var summary: String {
        var words = ["parent \(name)"]
        words += servers.map { "\($0.scheme.rawValue) \($0.address)" }
        if let automatic { words.append("pac \(automatic)") }
        words += trusted.map { "credentials \($0)" }
        words += exceptions.map { "except \($0)" }
        return words.joined(separator: " ")
    }
}

extension Configuration.Clients {
    /// The lines about authentication.
    var summary: [String] {
        guard !methods.isEmpty else { return [] }
        var words = ["clients authenticate \(methods.map(\.rawValue).joined(separator: " "))"]
        if let users { words.append("users \(users)") }
        if let nonceKey { words.append("nonce-key \(nonceKey)") }
        if let keytab { words.append("keytab \(keytab)") }
        if principals != [.users] {
            words.append("allow-principals \(principals.map(\.description).joined(separator: " "))")
        }
        if let tokens { words.append("tokens \(tokens)") }
        return [words.joined(separator: " ")]
    }
}

extension Configuration.Store {
    var summary: String {
        location.summary + (key.map { " key \($0)" } ?? "")
    }
}

extension Configuration.AnswerTerms {
    /// The modifiers, as the rule file would write them.
    var summary: [String] {
        var words: [String] = []
        if let servicePrincipal { words.append("spn \(servicePrincipal)") }
        if delegates { words.append("delegate yes") }
        if canonicalises { words.append("canonicalise yes") }
        if let form { words.append(form.summary) }
        return words
    }
}

extension Configuration.LoginForm {
    fileprivate var summary: String {
        var words: [String] = []
        for sign in signs {
            words.append("recognise")
            if let status = sign.status { words.append("status \(status)") }
            if let location = sign.location { words.append("location \(location)") }
            if let text = sign.text { words.append("contains \"\(text)\"") }
        }
        words.append("login \(login.action)")
        let fields = login.fields.map { "\($0.name)=\($0.value.map(\.words).joined())" }
        words += login.isJSON ? ["fields json {"] + fields + ["}"] : fields
        return "form { \(words.joined(separator: " ")) }"
    }
}

extension LoginTemplate.Field.Part {
    fileprivate var words: String {
        switch self {
        case .text(let text): text
        case .user: "{user}"
        case .password: "{password}"
        }
    }
}

extension Configuration.Listener {
    var summary: String {
        var words = "listen \(place)"
        if case .local(let socket) = place {
            words += " { mode \(String(socket.mode, radix: 8))\(socket.group.map { "; group \($0)" } ?? "") }"
        }
        if let client { words += " as \(client)" }
        if speaksHTTP2 { words += " h2c" }
        if speaksSOCKS { words += " socks" }
        if !balancers.isEmpty {
            words += " proxy-protocol from \(balancers.map(\.description).joined(separator: " "))"
        }
        if isTransparent { words += " transparent" }
        guard let tls else { return words }
        let clients = tls.clients.map { " clients \($0.words)\($0.isRequired ? " required" : "")" } ?? ""
        return words + " tls certificate \(tls.certificate) key \(tls.key)\(clients)"
    }
}

extension CredentialSource {
    var summary: String {
        switch self {
        case .password(let user, let password): "user \(user) password \(password)"
        case .identity(let source): source.summary
        case .kerberos(let source): source.summary
        case .token(let token): "token \(token)"
        case .oauth(let source): source.summary
        case .registry(let source):
            (["registry"] + [source.server.map { "\($0)" }].compactMap(\.self)
                + (source.login.map { ["user \($0.user) password \($0.password)"] } ?? [])
                + (source.helper.map { [$0.summary] } ?? [])
                + (source.scopes.isEmpty ? [] : ["scope \(source.scopes.map { "\($0)" }.joined(separator: " "))"]))
                .joined(separator: " ")
        case .signature(let source): source.summary
        case .helper(let helper): helper.summary
        case .placed(let source, let placements):
            ([source.summary] + placements.map(\.description)).joined(separator: " ")
        }
    }
}

extension HelperSource {
    fileprivate var summary: String { "helper \(kind.rawValue) \(command.words.joined(separator: " "))" }
}

extension CommandSource.Settings {
    var summary: String {
        (environment.isEmpty ? "" : " environment \(environment.joined(separator: " "))")
            + (keep.map { " keep \($0.count)ms" } ?? "") + (asksForPath ? " path yes" : "")
    }
}

extension CredentialSource.Identity {
    fileprivate var summary: String {
        let (words, passphrase) =
            switch self {
            case .pem(let certificate, let key, let passphrase): ("certificate \(certificate) key \(key)", passphrase)
            case .pkcs12(let path, let passphrase): ("pkcs12 \(path)", passphrase)
            case .pkcs11(let uri, let passphrase): ("pkcs11 \"\(uri)\"", passphrase)
            }
        return words + (passphrase.map { " passphrase \($0)" } ?? "")
    }
}

extension Configuration.Route {
    var summary: String {
        var words = ["route", "\(host)\(port.map { ":\($0)" } ?? "")", action.rawValue]
        switch upgrade {
        case .standard: words.append("upgrade")
        case .port(let port): words.append("upgrade \(port)")
        case nil: break
        }
        if decodesContent { words.append("decode") }
        if let minimum = tls?.minimum { words.append("tls minimum \(minimum)") }
        if let maximum = tls?.maximum { words.append("tls maximum \(maximum)") }
        words += tls?.revocation.map { "tls revocation \($0)" } ?? []
        if trace != .no { words.append("trace \(trace.rawValue)") }
        if let parentList { words.append("via \(parentList.words)") }
        return words.joined(separator: " ")
    }
}

extension Configuration.Listener.TLS.Clients {
    fileprivate var words: String {
        authorities ?? domains.map { "spiffe \($0.name) \($0.authorities)" }.joined(separator: " ")
    }
}

extension StoreLocation {
    fileprivate var summary: String {
        switch place {
        case .file(let path): "\(backend.rawValue) \(path)"
        case .server(let connection): "\(backend.rawValue) \(connection)"
        }
    }
}
