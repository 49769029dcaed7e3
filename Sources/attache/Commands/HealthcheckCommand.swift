import Bytes
import HTTP
import IO
import Rules

/// The command `attache healthcheck`: checks that the running proxy is healthy.
struct HealthcheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "healthcheck", summary: "check that the running proxy is healthy",
        options: [
            CommandOption.config,
            CommandOption(
                name: "address", value: "ADDRESS",
                summary: [
                    "the admin address with its port; then no rule file is read, so a broken rule",
                    "file does not fail the check",
                ]),
        ],
        details: """
            Asks /healthz at the address that 'admin' names, and waits at most two seconds. The exit status is 0
            if the proxy is healthy, 1 if it is not or does not answer, and 2 if the rule file has no 'admin'.

                attache healthcheck
                attache healthcheck --address 127.0.0.1:3127
            """)

    /// The listener that is asked.
    private let admin: Endpoint

    private static let patience: Milliseconds = 2000
    /// The limit of a response in bytes, enough for any head of the admin listener.
    private static let answerLimit = 16 * 1024

    init(_ arguments: Arguments) throws(CommandError) {
        if let address = arguments.value(of: "address") {
            guard let named = Endpoint(address), named.port != 0 else {
                throw arguments.error("'\(address)' is not an address and a port such as 127.0.0.1:3127")
            }
            admin = named
        } else {
            admin = try Self.adminListener(of: RuleFilePath.choose(arguments.value(of: "config")))
        }
    }

    private static func adminListener(of path: String) throws(CommandError) -> Endpoint {
        guard let admin = try RuleFile.read(path).valid().admin else {
            throw .configuration(
                "\(path) has no 'admin' line; add: admin 127.0.0.1:3127")
        }
        guard admin.port != 0 else {
            throw .configuration("'admin' of \(path) has port 0: write a port, or use --address")
        }
        return admin
    }

    func run() throws(CommandError) -> Int32 {
        let status = try ask(SocketAddress(admin.address, port: admin.port))
        guard status == .ok else { throw .failed("not healthy: \(admin) answers with status \(status.rawValue)") }
        Console.print("healthy: \(admin) answers with status 200")
        return ExitStatus.success
    }

    private func ask(_ address: SocketAddress) throws(CommandError) -> Status {
        let request = "GET /healthz HTTP/1.1\r\nHost: \(address)\r\nConnection: close\r\n\r\n"
        let answer: [UInt8]
        do throws(IOError) {
            answer = try BlockingExchange.send(
                Array(request.utf8), to: address, within: Self.patience, limit: Self.answerLimit)
        } catch { throw .failed("no answer from the admin listener at \(address): \(error)") }
        let head = ResponseHead()
        guard case .complete = try? head.parse(answer.span, answering: .get) else {
            throw .failed("the server at \(address) is not the admin listener of a proxy")
        }
        return head.status
    }
}
