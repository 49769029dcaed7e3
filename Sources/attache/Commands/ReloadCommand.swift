import Glibc
import Rules

/// `attache reload`: has the running proxy read its rule file again, and waits for what comes of it.
struct ReloadCommand: Command {
    static let syntax = CommandSyntax(
        name: "reload", summary: "have the running proxy read its rule file again",
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"])
        ],
        details: """
            Checks the rule file first, as 'attache check' does. Then the running proxy reads it, and the
            files that it names. Where something in it cannot be used the running rules go on, and the exit
            status is 1. A request that has begun keeps to the rules that it began with.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root. SIGHUP does the same, and says on the proxy's standard error what came of it.
            """)

    private let proxy: RunningProxy

    /// Between two questions, in microseconds.
    private static let pause: UInt32 = 50_000
    /// A store may have to be opened, and files read that a network brings.
    private static let questions = 2400

    init(_ arguments: Arguments) throws(CommandError) {
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(try RuleFile.read(path).valid())
    }

    func run() throws(CommandError) -> Int32 {
        guard let number = try proxy.ask("POST", "/reload") else { throw proxy.absence }
        var query = ControlQuery()
        query.add("number", String(number.prefix { $0.isNumber }))
        for _ in 0..<Self.questions {
            guard let answer = try proxy.ask("GET", "/reload\(query)") else {
                throw .failed("the proxy has stopped before it read the rule file")
            }
            switch answer.trimmingEnd {
            case "pending": usleep(Self.pause)
            case "reloaded":
                Console.print("the rule file was reloaded")
                return ExitStatus.success
            case let reason:
                throw .failed("the rule file was not reloaded, and the running rules go on: \(reason)")
            }
        }
        throw .failed("the proxy has not finished reading the rule file in 2 minutes; its standard error says more")
    }
}

extension String {
    fileprivate var trimmingEnd: Substring {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}
