import Authentication
import Bytes
import Challenges
import Credentials
import Forwarding
import IO
import Model
import Rules
import Upstream

/// The conversation of `attache init` with a server, a parent and a person: it asks what is wanted, and tries it once.
struct ServerSetup {
    let request: ExplainedRequest
    let edit: RuleFileEdit
    /// The login of the server; a parent's is always typed.
    private var entry: LoginEntry
    /// The target that is asked for.
    private var target: String
    private(set) var rules: FirstRules
    /// The text that the last request was sent by.
    private(set) var bytes: [UInt8] = []

    private var origin: Origin { request.origin }

    private static let client = ClientIdentity(address: IPAddress(v4: 0x7F00_0001), user: nil)

    init(_ rules: FirstRules, _ edit: RuleFileEdit, _ entry: LoginEntry) {
        (request, target) = (rules.server, rules.server.target)
        self.rules = rules
        self.edit = edit
        self.entry = entry
    }

    /// Asks until the server accepts, or wants nothing.
    mutating func run() throws(CommandError) {
        try rules.check()
        if let identity = entry.identity { try show(identity) }
        while true {
            let asksForLogin = rules.answer == nil
            let response: ChallengeProbe.Response
            switch try ask(target, readsPage: asksForLogin) {
            case .success(let answered): response = answered
            case .failure(let failure):
                try settle(failure)
                continue
            }
            if response.isOfParent {
                try logInAtParent(response)
            } else if !asksForLogin {
                return try conclude(response)
            } else if try isSettled(response) {
                return
            }
        }
    }

    // MARK: - Requests

    /// The rules as they would be, for the next request.
    private mutating func configuration() throws(CommandError) -> Configuration {
        bytes = edit.bytes(adding: rules.text, before: edit.former.flatMap(rules.successor))
        return try edit.read(bytes).valid()
    }

    private mutating func ask(
        _ target: String, readsPage: Bool
    ) throws(CommandError) -> Result<ChallengeProbe.Response, ChallengeProbe.Failure> {
        let configuration = try configuration()
        return try ServerProbe.ask(
            request.reaching(target), by: configuration, trying: try credentials(of: configuration),
            readsPage: readsPage)
    }

    /// The credentials of the file and the new ones, which are not written yet.
    private func credentials(of configuration: Configuration) throws(CommandError) -> ConfiguredCredentials {
        let configured = configuration.configuredCredentials.map { credential in
            rules.logins.reduce(credential) { $1.withSecret($0) }
        }
        let own = configured.filter { credential in
            rules.logins.contains { $0.name.hasSameBytes(as: credential.name) }
        }
        let report = ConfiguredCredentials(own, environment: Environment.all).refresh()
        if let error = report.errors.first { throw .failed("\(error)") }
        for warning in report.warnings { Console.error("\(warning)") }
        let all = ConfiguredCredentials(
            configured, environment: Environment.all, commands: configuration.commandTerms)
        all.refresh()
        return all
    }

    // MARK: - Responses

    /// Reads from the response whether the server has accepted the login, which was sent once.
    private func conclude(_ response: ChallengeProbe.Response) throws(CommandError) {
        guard let answer = rules.answer else { return }
        let login = answer.login
        if response.status == 401, response.attempts == 0, let realm = login.realm {
            throw .failed(
                "there is no ticket for \(login.subject): the KDC of \(realm) does not know this user, refuses its "
                    + "password or key, or cannot be reached; nothing was written")
        }
        if response.status == 401, let details = response.details {
            switch login.content {
            case .issuer where response.attempts == 0, .registry: throw .failed("\(details); nothing was written")
            default: break
            }
        }
        if response.status == 401 || response.status == 400 && answer.methods == [.bearer] {
            throw Self.refusal(of: login)
        }
        // A server in trouble has not judged the login.
        guard response.status < 500 else {
            throw .failed(
                "the server answers \(response.status) to the login of \(login.subject): it neither accepts nor refuses "
                    + "it; nothing was written")
        }
        if answer.form != nil {
            guard response.credential != nil, response.attempts > 0 else { throw Self.refusal(of: login) }
            Console.print(
                "logged in as \(login.subject): the server answers \(response.status), and no longer shows its login page"
            )
            return
        }
        Console.print("the server accepts \(login.subject), and answers \(response.status)")
    }

    private static func refusal(of login: FirstLogin, by who: String = "the server") -> CommandError {
        .failed("\(who) refuses \(login.subject)\(login.proof), which was tried once; nothing was written")
    }

    /// Does what a response without a new login asks for.
    /// - Returns: whether there is nothing left to do.
    private mutating func isSettled(_ response: ChallengeProbe.Response) throws(CommandError) -> Bool {
        if response.status == 401, !response.lines.isEmpty {
            try logIn(response)
            return false
        }
        if response.status == 401, entry.kind == nil || entry.issuer != nil, try findIssuer(nil) {
            let space = ProtectionSpace(origin: origin, realm: nil, authenticationMethod: .bearer)
            let login = try entry.read(.token, named: rules.uniqueCredential(request.host))
            rules.answer = FirstRules.Answer(login: login, methods: [.bearer], rule: rule(for: [space]))
            return false
        }
        if [401, 403, 404].contains(response.status), entry.kind == .token {
            try logInPreemptively(response)
            return false
        }
        if let identity = rules.identity {
            return try accept(identity, response)
        }
        if response.wantsCertificate, [400, 401, 403, 495, 496].contains(response.status) {
            throw Self.certificateWanted("answers \(response.status) and asks for a client certificate")
        }
        var found = self
        let form = try FirstForm.find(in: response, to: request) { target throws(CommandError) in
            try found.ask(target, readsPage: true)
                .mapError { CommandError.failed("no response: \($0.sentence)") }.get()
        }
        if let form {
            try logIn(by: form)
            return false
        }
        if let credential = response.credential {
            throw .failed(
                "\(edit.path) already answers this server with credential \(Console.printable(credential)), and the "
                    + "server answers \(response.status): there is nothing to add")
        }
        if target != Self.registryTarget, try findRegistry() { return false }
        return try isLoginless(response)
    }

    private func isLoginless(_ response: ChallengeProbe.Response) throws(CommandError) -> Bool {
        if response.status == 401 {
            throw .failed(
                "the server answers 401 and does not say how to log in: try --token FILE, or see 'attache help preemptive'"
            )
        }
        guard rules.isOfUse else {
            throw .failed(
                "the server answers \(response.status) and asks for no login, so there is nothing to set up; for a key "
                    + "with every request use --token FILE, or see 'attache help preemptive'")
        }
        Console.print("the server answers \(response.status), and asks for no login")
        return true
    }

    // MARK: - Logins

    private mutating func logIn(_ response: ChallengeProbe.Response) throws(CommandError) {
        if let credential = response.credential {
            Console.error(
                "the server refuses credential \(Console.printable(credential)) of \(edit.path); another login goes before it"
            )
        }
        if entry.kind == nil, try logInAtRegistry(response) { return }
        let wanted = try wanted(response, from: origin, "the server", for: entry.kind)
        if wanted.kind == .token, entry.kind == nil || entry.issuer != nil {
            _ = try findIssuer(ExplainedChallenges(values: response.lines).bearer)
        }
        let login = try entry.read(wanted.kind, named: rules.uniqueCredential(request.host))
        rules.answer = FirstRules.Answer(login: login, methods: wanted.methods, rule: rule(for: wanted.spaces))
    }

    // MARK: - Tokens that the server announces

    /// Reads the server's metadata, and asks whether the client secret is for the issuer that it names. Takes the scopes.
    ///
    /// - Parameter challenge: the server's challenge for a token; nil if it sends none.
    /// - Returns: whether there is an issuer.
    private mutating func findIssuer(_ challenge: HeaderChallenge?) throws(CommandError) -> Bool {
        let found = try ServerProbe.metadata(of: origin, for: request, by: try configuration(), challenge)
        let metadata: ResourceMetadata
        switch found {
        case .success(let announced?): metadata = announced
        case .success(nil): return entry.issuer != nil
        case .failure(let error):
            Console.error("\(error)")
            return entry.issuer != nil
        }
        entry.scopes = metadata.scopes(for: challenge?.text("scope"))
        let scopes = entry.scopes.isEmpty ? "" : ", with the scopes \(entry.scopes.joined(separator: " "))"
        Console.print("it announces tokens for \(Console.printable(metadata.resource))\(scopes)")
        if let issuer = entry.issuer {
            do throws(TokenError) {
                if let issuer = TokenIssuer(issuer) { try metadata.check(issuer, on: origin) }
            } catch {
                throw .failed("\(error); nothing was written")
            }
            return true
        }
        guard Terminal.isStandardInput else {
            let issuers = metadata.usableIssuers.joined(separator: " ")
            Console.error("its issuers are: \(issuers); use --issuer to get a token from one of them")
            return false
        }
        for issuer in metadata.usableIssuers.prefix(3) {
            if try Console.confirms("Is your client secret for \(Console.printable(issuer))?") {
                entry.issuer = issuer
                return true
            }
        }
        entry.scopes = []
        return false
    }

    // MARK: - Container registries

    /// The target that each registry answers, and challenges for (OCI distribution specification, "Determining Support").
    private static let registryTarget = "/v2/"

    /// The challenge of a container registry in the response; nil for other servers.
    private func registryChallenge(
        _ response: ChallengeProbe.Response
    ) -> (challenge: HeaderChallenge, naming: RegistryChallenge.Naming)? {
        guard response.status == 401, !response.isOfParent,
            let bearer = ExplainedChallenges(values: response.lines).bearer,
            let naming = ExplainedTokens.registry(bearer, of: origin, at: target)
        else { return nil }
        return (bearer, naming)
    }

    /// Asks whether there is a container registry on a server that asks for no login otherwise. The next request is for it.
    private mutating func findRegistry() throws(CommandError) -> Bool {
        let former = target
        target = Self.registryTarget
        if case .success(let response) = try ask(target, readsPage: false), response.credential == nil,
            registryChallenge(response) != nil
        {
            return true
        }
        target = former
        return false
    }

    /// Takes the login for a container registry and its token server, which a person has to confirm.
    ///
    /// - Returns: whether the server is a registry.
    private mutating func logInAtRegistry(_ response: ChallengeProbe.Response) throws(CommandError) -> Bool {
        guard let (challenge, naming) = registryChallenge(response) else {
            if entry.registry == nil { return false }
            throw .failed("the server is no container registry, which '--registry' is for")
        }
        let server = try tokenServer(naming, challenge)
        if request.protocol == .http {
            Console.error("http sends the token unencrypted: anyone on the way to the server can read it")
        }
        let login = try entry.readRegistry(named: rules.uniqueCredential(request.host), at: server)
        let offers = ChallengeOrder().offers(in: ExplainedChallenges(values: response.lines).challenges, from: origin)
        rules.answer = FirstRules.Answer(
            login: login, methods: server == nil ? [.bearer, .basic] : [.bearer], rule: rule(for: offers.map(\.space)))
        return true
    }

    /// The token server that gets the user and password; nil: the registry's own host and port.
    private func tokenServer(
        _ naming: RegistryChallenge.Naming, _ challenge: HeaderChallenge
    ) throws(CommandError) -> String? {
        if let named = entry.registry, let server = TokenIssuer(named) {
            do throws(TokenError) { _ = try RegistryChallenge(challenge, from: origin, named: server) } catch {
                throw .failed("\(error); nothing was written")
            }
            return named
        }
        guard case .url(let url) = naming else {
            Console.print("the server answers 401 as a container registry, with a token server on its own host")
            return nil
        }
        let shown = Console.printable(url)
        Console.print("the server answers 401 as a container registry, and names the token server \(shown)")
        guard Terminal.isStandardInput else {
            throw .failed("the user and password would go to \(shown): use --registry \(shown) if that is right")
        }
        guard try Console.confirms("Is your password for \(shown)?") else {
            throw .failed("the registry gives no token without it; nothing was written")
        }
        return url
    }

    private mutating func logInPreemptively(_ response: ChallengeProbe.Response) throws(CommandError) {
        guard
            request.protocol == .https || request.host.hasPrefix("127.") || ["::1", "localhost"].contains(request.host)
        else {
            throw .failed(
                "the server answers \(response.status) without a challenge, and a token is sent unasked by https only: "
                    + "use an https URL with --upgrade or --intercept")
        }
        Console.print("the server answers \(response.status) without a challenge: the token goes with each request")
        let login = try entry.read(.token, named: rules.uniqueCredential(request.host))
        rules.answer = FirstRules.Answer(login: login, methods: [.bearer], isPreemptive: true)
    }

    private mutating func logIn(by form: FirstForm) throws(CommandError) {
        guard form.password != nil else { throw onTwoPages(form) }
        Console.print(form.sentence)
        if request.protocol == .http {
            Console.error("http sends the password unencrypted: anyone on the way to the server can read it")
        }
        let login = try entry.read(.password, named: rules.uniqueCredential(request.host))
        let space = ProtectionSpace(
            origin: origin, realm: nil, authenticationMethod: .htmlForm)
        rules.answer = FirstRules.Answer(login: login, methods: [.htmlForm], form: form, rule: rule(for: [space]))
    }

    /// The rule for a login page that asks for the user, with another page behind it for the password. The second page is
    /// shown only to a user that the server knows.
    private func onTwoPages(_ form: FirstForm) -> CommandError {
        let name = RuleWord.quoted(rules.uniqueCredential(request.host))
        let title = RuleWord.quoted(rules.former.freeRuleName(request.host))
        let isSecure = request.protocol == .https ? "; secure yes" : ""
        let page = Console.printable(form.page)
        Console.print(
            """
            the login page \(page) asks for the user first, and another page asks for the password: 'init' does not see it
            Find the name of its password field in a browser, write it for PASSWORD, and add these lines to \(edit.path):
                credential \(name) { user NAME; password file /path/to/password }
                challenge \(title) { host \(request.host); port \(request.port)\(isSecure); form { \(form.words) }; use \(name) }
            """)
        return .failed("a login on two pages is not tried; nothing was written")
    }

    private mutating func logInAtParent(_ response: ChallengeProbe.Response) throws(CommandError) {
        guard let parent = rules.parent?.server else {
            throw .failed(
                "the parent proxy of \(edit.path) answers \(response.status), and no rule logs in there: see 'attache help parents'"
            )
        }
        let place = "\(parent.address)"
        if let answer = rules.parentAnswer {
            throw Self.refusal(of: answer.login, by: "the proxy \(place)")
        }
        let origin = Origin(
            host: parent.address.host, port: parent.address.port,
            protocol: parent.scheme == .https ? .https : .http, isProxy: true)
        let wanted = try wanted(response, from: origin, "the proxy \(place)", for: nil)
        let entry = LoginEntry(user: rules.parent?.user)
        let login = try entry.read(
            wanted.kind, named: rules.uniqueCredential(parent.address.host), of: "Proxy \(place)")
        rules.parentAnswer = FirstRules.Answer(login: login, methods: wanted.methods, rule: rule(for: wanted.spaces))
    }

    private func wanted(
        _ response: ChallengeProbe.Response, from origin: Origin, _ who: String, for kind: WantedLogin.Kind?
    ) throws(CommandError) -> WantedLogin {
        let offers = ChallengeOrder().offers(in: ExplainedChallenges(values: response.lines).challenges, from: origin)
        let lines = Console.printable(response.lines.joined(separator: ", "))
        guard let wanted = WantedLogin(offers, for: kind) else {
            let what = WantedLogin(offers) == nil ? "a login that the proxy does not know" : "another login"
            throw .failed("\(who) asks for \(what): \(lines)")
        }
        let realm = wanted.realm.map { ", realm \"\(Console.printable($0))\"" } ?? ""
        Console.print("\(who) answers \(response.status) and asks for \(wanted.words)\(realm)")
        if wanted.isReadable {
            Console.error("http sends \(wanted.noun) unencrypted: anyone on the way to \(who) can read it")
        }
        return wanted
    }

    /// The existing rule that decides about one of the spaces.
    private func rule(for spaces: [ProtectionSpace]) -> RuleReference? {
        let rules = RuleSet(edit.configuration)
        return spaces.lazy.map { rules.decide(ChallengeQuery($0, client: Self.client)).rule }.first { $0 != nil } ?? nil
    }

    // MARK: - TLS

    /// A response or a failure that is about TLS with the server.
    private mutating func settle(_ failure: ChallengeProbe.Failure) throws(CommandError) {
        switch failure.cause {
        case .untrusted(let origin, _) where origin.isProxy:
            throw .failed(
                "no response: \(failure.sentence); run 'attache trust \(origin.host):\(origin.port)' to see why, and see 'attache "
                    + "help trust'")
        case .untrusted(_, let chain) where rules.trust == nil:
            let asked = try TrustQuestion.ask(request.host, request.port, sending: chain, by: edit.configuration)
            guard let (rule, before) = asked else { throw .failed("no response: \(failure.sentence)") }
            rules.trust = .key(rule, before: before)
        case .untrusted:
            throw .failed(
                "no response: \(failure.sentence); run 'attache trust \(request.host):\(request.port)' to see why")
        case .certificateWanted where rules.identity != nil:
            throw .failed("the server refuses the certificate: \(failure.sentence); nothing was written")
        case .certificateWanted: throw Self.certificateWanted("asks for a client certificate")
        case .prohibited:
            throw .failed(
                "no response: \(failure.sentence): the name resolves to this machine or the local link; if that is "
                    + "right, write the name into /etc/hosts, or the address into the URL")
        case .other:
            if let login = rules.answer?.login {
                throw .failed(
                    "the login of \(login.subject)\(login.proof) failed, and was tried once; nothing was written: "
                        + "\(failure.sentence)")
            }
            throw .failed("no response: \(failure.sentence)")
        }
    }

    private static func certificateWanted(_ words: String) -> CommandError {
        .failed("the server \(words): use --certificate FILE --key FILE")
    }

    private mutating func show(_ identity: (certificate: String, key: String)) throws(CommandError) {
        guard request.protocol == .https else {
            throw .failed("a client certificate is for an https URL: use https://, with --upgrade or --intercept")
        }
        let login = FirstLogin(
            name: rules.uniqueCredential("\(request.host)-certificate"),
            content: .identity(certificate: identity.certificate, key: identity.key))
        let space = ProtectionSpace(
            clientCertificateOf: Origin(host: request.host, port: request.port, protocol: .https))
        rules.identity = FirstRules.Answer(login: login, methods: [.clientCertificate], rule: rule(for: [space]))
    }

    private func accept(
        _ identity: FirstRules.Answer, _ response: ChallengeProbe.Response
    ) throws(CommandError) -> Bool {
        guard response.wantsCertificate else {
            throw .failed(
                "the server answers \(response.status) and asks for no client certificate; nothing was written")
        }
        if [400, 403, 495, 496].contains(response.status) {
            throw .failed("the server refuses the certificate: it answers \(response.status); nothing was written")
        }
        Console.print("the server accepts the certificate, and answers \(response.status)")
        return true
    }
}
