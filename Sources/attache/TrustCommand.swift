import Bytes
import IO
import Proxy
import Rules
import TLS

/// `attache trust`: shows whether a server is trusted, and what would trust it.
struct TrustCommand: Command {
    static let syntax = CommandSyntax(
        name: "trust", summary: "say whether a server's certificate is trusted, and what would trust it",
        operands: [CommandOperand(name: "HOST:PORT")],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: [
                    "the rule file whose rules apply; default: ./proxy.conf, else",
                    "/etc/attache/proxy.conf, else none",
                ]),
            CommandOption(
                name: "name", value: "NAME",
                summary: ["the name to be found in the certificate; default: HOST"]),
        ],
        details: """
            Connects to the server, whatever 'egress' says, and sends a greeting and nothing else. Shows the
            certificates that the server sends, all that is found against them, and, if it is not trusted,
            the lines for the rule file that trust this key in spite of it. Compare the key pin with one
            that you have from another source first. The exit status is 0 when the server is trusted, 1 when
            it is not or cannot be asked.

                attache trust lab.example.com:8443
                attache trust 10.0.0.7:443 --name appliance.example.com
            """)

    private let host: String
    private let port: UInt16
    private let name: String?
    private let configuration: Configuration

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
    }

    func run() throws(CommandError) -> Int32 {
        let rules = RuleSet(configuration)
        let trust: TrustSources
        do throws(TrustAnchorsError) {
            trust = try TrustSources(rules)
        } catch { throw .failed("\(error)") }
        for error in trust.refresh() { Console.error("\(error)") }
        let opinion = try ask(TrustProbe(host: host, port: port, name: name, rules: rules, trust: trust))
        Console.print(TrustReport(opinion).text)
        return opinion.isTrusted ? ExitStatus.success : ExitStatus.failed
    }

    private func ask(_ probe: TrustProbe) throws(CommandError) -> TrustOpinion {
        let now = SystemClock.epochMilliseconds / 1000
        let outcome: Result<TrustOpinion, TrustProbeError>
        do throws(IOError) {
            outcome = try BlockingTask.run { loop in
                do throws(TrustProbeError) {
                    return .success(try await probe.ask(at: now, on: loop))
                } catch { return .failure(error) }
            }
        } catch { throw .failed("\(error)") }
        do throws(TrustProbeError) { return try outcome.get() } catch { throw .failed("\(error)") }
    }

    /// `HOST:PORT`, an IPv6 address in brackets.
    private static func server(_ text: String) -> (host: String, port: UInt16)? {
        if let endpoint = Endpoint(text) { return endpoint.port > 0 ? ("\(endpoint.address)", endpoint.port) : nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, isHost(parts[0].lowercased()), let port = UInt16(parts[1]), port > 0,
            parts[1].utf8.allSatisfy(\.isDigit)
        else { return nil }
        return (parts[0].lowercased(), port)
    }

    private static func isHost(_ name: String) -> Bool { ServerName(name).isFitForCertificates }
}
