import Bytes
import Credentials
import Rules
import TLS
import Upstream

/// The command `attache trust`: shows whether a server is trusted, and what would make it trusted.
struct TrustCommand: Command {
    static let syntax = CommandSyntax(
        name: "trust", summary: "check a server's certificate, and show how to trust it",
        operands: [CommandOperand(name: "HOST:PORT")],
        options: [
            CommandOption.config,
            CommandOption(
                name: "name", value: "NAME",
                summary: ["the name that the certificate must have; default: HOST"]),
            CommandOption(
                name: "accept", summary: ["store an exception for the server's key"]),
            CommandOption(name: "until", value: "DATE", summary: ["the last day of the exception, in UTC: YYYY-MM-DD"]),
            CommandOption(name: "yes", summary: ["do not ask for confirmation, for scripts"]),
        ],
        details: """
            Connects to the server, even if 'egress' forbids it, and sends only a TLS greeting. It shows the
            certificates of the server and their problems. If the server is not trusted, it shows the lines for
            the rule file that trust this key. Compare the pin with one that you have from another source first.
            The exit status is 0 if the server is trusted, 1 if it is not or cannot be reached.

                attache trust lab.example.com:8443
                attache trust 10.0.0.7:443 --name appliance.example.com
                attache trust lab.example.com:8443 --accept --until 2027-06-30

            With --accept, the proxy trusts this key at HOST:PORT until that day, in spite of all problems
            except 'revoked'. A rule that refuses, or that names other keys, is stronger. The command asks for
            confirmation on the terminal; without a terminal, --yes is required. A running proxy uses the
            exception within a second. 'attache credential list' shows exceptions, 'attache credential remove'
            removes one.
            """)

    private let host: String
    private let port: UInt16
    private let name: String?
    private let configuration: Configuration
    private let acceptance: Acceptance?

    init(_ arguments: Arguments) throws(CommandError) {
        let text = arguments.operand(0) ?? ""
        guard let server = Self.server(text) else {
            throw arguments.error("'\(Console.printable(text))' is not a host and a port such as lab.example.com:443")
        }
        (host, port) = server
        name = arguments.value(of: "name")?.lowercased()
        if let name, !Self.isHost(name) {
            throw arguments.error("'\(Console.printable(name))' is neither a host name nor an address")
        }
        if let path = RuleFilePath.find(arguments.value(of: "config")) {
            configuration = try RuleFile.read(path).valid()
        } else {
            configuration = Configuration()
        }
        acceptance = try Acceptance(arguments, configuration)
    }

    func run() throws(CommandError) -> Int32 {
        try acceptance?.check()
        let opinion = try TrustInquiry(configuration).opinion(of: host, port: port, name: name)
        Console.print(ServerCertificates(opinion).text)
        if let acceptance {
            try acceptance.run(on: opinion, of: host, port: port)
            return ExitStatus.success
        }
        return opinion.isTrusted ? ExitStatus.success : ExitStatus.failed
    }

    /// Parses `HOST:PORT`, with an IPv6 address in brackets.
    private static func server(_ text: String) -> (host: String, port: UInt16)? {
        if let endpoint = Endpoint(text) {
            return endpoint.port > 0 ? ("\(endpoint.address.unmapped)", endpoint.port) : nil
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, isHost(parts[0].lowercased()), let port = UInt16(parts[1]), port > 0,
            parts[1].utf8.allSatisfy(\.isDigit)
        else { return nil }
        return (HostSpelling.canonical(String(parts[0])), port)
    }

    private static func isHost(_ name: String) -> Bool { ServerName(name).isFitForCertificates }
}
