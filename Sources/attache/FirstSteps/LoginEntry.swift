import Credentials
import Crypto
import IO
import Synchronization

/// The login for a server, from the command line's options, the terminal or standard input.
struct LoginEntry {
    /// The user, the principal or the OAuth client.
    var user: String?
    /// The file of the secret; `-` is standard input; nil: the terminal, or standard input if that is no terminal.
    var file: String?
    /// The absolute path of a keytab.
    var keytab: String?
    /// The name of a ticket cache, or its absolute path.
    var ticketCache: String?
    /// The absolute path of a file with a token.
    var token: String?
    /// The URL of an OAuth token endpoint.
    var endpoint: String?
    /// The URL of an OAuth issuer.
    var issuer: String?
    /// The URL of a container registry's token server.
    var registry: String?
    /// The scopes that the server asks for.
    var scopes: [String] = []
    /// The absolute paths of a client certificate and its key.
    var identity: (certificate: String, key: String)?

    private static let longest = 64 << 10

    /// The kind of login that the options name; nil: any.
    var kind: WantedLogin.Kind? {
        if keytab != nil || ticketCache != nil { return .kerberos }
        return token != nil || endpoint != nil || issuer != nil ? .token : nil
    }

    /// Reads the login that a server or a parent wants.
    ///
    /// - Parameters:
    ///   - name: the credential's.
    ///   - owner: whose password it is, if that has to be said.
    func read(_ kind: WantedLogin.Kind, named name: String, of owner: String? = nil) throws(CommandError) -> FirstLogin
    {
        let prefix = owner.map { "\($0): " } ?? ""
        switch kind {
        case .password:
            let user = try self.user("\(prefix)User: ")
            return FirstLogin(name: name, content: .password(user: user), secret: try secret("\(prefix)Password: "))
        case .kerberos:
            if !ConfiguredCredentials.supportsKerberos {
                throw .failed(
                    "the server asks for a Kerberos ticket: install MIT Kerberos (Debian: libgssapi-krb5-2)")
            }
            let principal = try principal(prefix)
            if let keytab { return FirstLogin(name: name, content: .keytab(principal: principal, keytab)) }
            if let ticketCache {
                return FirstLogin(name: name, content: .ticketCache(principal: principal, ticketCache))
            }
            return FirstLogin(
                name: name, content: .kerberos(principal: principal), secret: try secret("\(prefix)Password: "))
        case .token:
            if let token { return FirstLogin(name: name, content: .tokenFile(token)) }
            if issuer != nil || endpoint != nil {
                let client = try self.user("\(prefix)Client ID: ")
                let content: FirstLogin.Content =
                    issuer.map { .issuer($0, client: client, scopes: scopes) }
                    ?? .oauth(endpoint: endpoint ?? "", client: client)
                return FirstLogin(
                    name: name, content: content, secret: try secret("\(prefix)Client secret: ", "the client secret"))
            }
            return FirstLogin(name: name, content: .token, secret: try secret("\(prefix)Token: ", "the token"))
        }
    }

    /// Reads the user and the password for a container registry.
    ///
    /// - Parameter server: the URL of the token server; nil: on the registry's own host and port.
    func readRegistry(named name: String, at server: String?) throws(CommandError) -> FirstLogin {
        let user = try self.user("User: ")
        return FirstLogin(
            name: name, content: .registry(user: user, server: server), secret: try secret("Password: "))
    }

    /// The principal with its realm.
    private func principal(_ prefix: String) throws(CommandError) -> String {
        let name = try user("\(prefix)User (a Kerberos principal, such as alice@EXAMPLE.COM): ")
        guard let principal = ConfiguredCredentials.wholePrincipal(name) else {
            throw .failed(
                "no realm for '\(name)': write it, such as \(name)@EXAMPLE.COM, or set default_realm in krb5.conf")
        }
        return principal
    }

    private func user(_ prompt: String) throws(CommandError) -> String {
        let name: String
        if let user { name = user } else { name = try ask(prompt) }
        guard !name.isEmpty, Console.printable(name) == name else {
            throw .failed("the user's name is empty or has a control character in it")
        }
        return name
    }

    private func ask(_ prompt: String) throws(CommandError) -> String {
        guard Terminal.isStandardInput else {
            throw .failed("there is no terminal to ask for the user: use --user NAME")
        }
        guard let answer = try CommandError.failing({ try Terminal().ask(prompt) }) else {
            throw .failed("no user was given")
        }
        return answer
    }

    private func secret(_ prompt: String, _ noun: String = "the password") throws(CommandError) -> Secret {
        var bytes = try bytes(prompt, noun)
        let isUsable = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        let isText = String(validating: bytes, as: UTF8.self) != nil
        let secret = Secret(wiping: &bytes)
        if secret.count == 0 { throw .failed("\(noun) is empty") }
        guard isUsable, isText else { throw .failed("\(noun) has a character that cannot be sent") }
        return secret
    }

    private func bytes(_ prompt: String, _ noun: String) throws(CommandError) -> [UInt8] {
        if file == nil, Terminal.isStandardInput {
            guard let answer = try CommandError.failing({ try Terminal().askUnseen(prompt) }) else {
                throw .failed("\(noun) was not given")
            }
            return answer
        }
        let path = file ?? "-"
        if path != "-" { return try SecretFile(path: path, noun: noun).readLine(limit: Self.longest) }
        let rest: ArraySlice<UInt8>
        if let known = Self.input.withLock({ $0 }) {
            rest = known
        } else {
            rest = try SecretFile(path: path, noun: noun).read(limit: Self.longest)[...]
        }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        Self.input.withLock { $0 = rest[line.endIndex...].dropFirst() }
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }

    /// The rest of standard input, which has one secret in each line; nil before it is read.
    private static let input = Mutex<ArraySlice<UInt8>?>(nil)
}
