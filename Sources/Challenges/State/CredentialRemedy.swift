import Authentication
import Bytes
import Model

/// The remedy after which a refused credential is sent again at once: the file to write, and the commands to type.
public struct CredentialRemedy: Sendable {
    /// The action, such as `put the right value into FILE`.
    private let act: String?
    private let name: String

    init(_ name: String, _ source: CredentialList.Entry.Source) {
        self.name = name
        act =
            switch source {
            case .ruleFile(let content), .token(let content): Self.act(on: content)
            case .store(let place): "run '\(Self.command(to: "set", place.user, for: place.space))'"
            case .client: "the client must send the right one"
            }
    }

    /// - Parameter content: nil if neither the rule file nor the store has the credential.
    public init(of name: String, configured content: CredentialSource? = nil) {
        self.name = name
        act = content.flatMap(Self.act)
    }

    /// Creates the remedy of a stored credential.
    public init(of name: String, user: String, for space: ProtectionSpace) {
        self.name = name
        act = "run '\(Self.command(to: "set", user, for: space))'"
    }

    /// The remedy as a clause for operators; nil if there is no doubt about the credential.
    public func sentence(in standing: Account.Standing) -> String? {
        let retry = "'attache credential retry \(ShellWord.quoted(JournalText.printable(name)))'"
        switch standing.state {
        case .good: return nil
        case .unknown where !standing.isOnHold, .doubted:
            return "nothing to do: the next request finds out; or run \(retry) to forget the refusal"
        case .unknown, .held, .paused, .unproven: return act.map { "\($0), or run \(retry)" } ?? "run \(retry)"
        }
    }

    private static func act(on content: CredentialSource) -> String? {
        content.place.map { place in
            switch place {
            case .file(let path): "put the right value into \(JournalText.printable(path))"
            case .environment(let name): "restart the proxy with the right \(JournalText.printable(name))"
            case .command(let command): "put the right value where \(JournalText.printable(command.program)) finds it"
            case .literal: "correct it in the rule file"
            }
        }
    }

    private static func command(to action: String, _ user: String, for space: ProtectionSpace) -> String {
        command(to: action, user, for: space).map(ShellWord.quoted).joined(separator: " ")
    }

    /// The words of `attache credential ACTION URL USER`, with the space's options.
    public static func command(to action: String, _ user: String, for space: ProtectionSpace) -> [String] {
        var words = ["attache", "credential", action, space.origin.commandURL, JournalText.printable(user)]
        let method = space.authenticationMethod
        switch method.storedKind {
        case .token where action == "set": words += ["--token", "FILE"]
        case .certificate where action == "set": words += ["--certificate", "FILE", "--key", "FILE"]
        case .password, .token, .certificate, .trust:
            if method != .basic { words += ["--method", method == .default ? "any" : method.rawValue] }
        }
        if let realm = space.realm { words += ["--realm", JournalText.printable(realm)] }
        if space.isProxy, space.protocol != .socks { words += ["--proxy", "yes"] }
        return words
    }
}

extension Origin {
    /// The server in the form that a command takes.
    public var commandURL: String {
        let name = JournalText.printable(host)
        let scheme = self.protocol == .socks ? "socks5" : self.protocol.rawValue
        return "\(scheme)://\(name.contains(":") ? "[\(name)]" : name):\(portText)"
    }
}

extension CredentialSource {
    /// The source of the secret part, for people who have to change it; nil if it is not in a file.
    public var place: ValueSource? {
        switch self {
        case .password(_, let password): password
        case .token(let token): token
        case .identity(.pem(let certificate, _, _)): .file(certificate)
        case .identity(.pkcs12(let path, _)): .file(path)
        case .identity(.pkcs11): nil
        case .kerberos(let kerberos):
            switch kerberos.proof {
            case .keytab(let path): .file(path)
            case .password(let password): password
            case .cache: nil
            }
        case .oauth(let grant):
            switch (grant.grant, grant.proof) {
            case (.refreshToken(let token), _): token
            case (.assertion(let source), _), (.exchange(let source, _, _), _): source.value
            case (.signed(let path, _, _, _, _), _): .file(path)
            case (.clientCredentials, .secret(let secret, _)): secret
            case (.clientCredentials, .key(let path, _, _, _)): .file(path)
            case (.clientCredentials, .certificate(let path, _, _)): .file(path)
            case (.clientCredentials, .assertion(let source)): source.value
            case (.clientCredentials, .none): nil
            }
        case .registry(let source): source.helper.map { .command($0.command) } ?? source.login?.password
        case .signature(let key): key.place
        case .helper(let helper): .command(helper.command)
        case .placed(let source, _): source.place
        }
    }
}
