import Glibc
import Rules

/// `attache reload`: has the running proxy read its rule file again, and waits for what comes of it.
struct ReloadCommand: Command {
    static let syntax = CommandSyntax(
        name: "reload", summary: "have the running proxy read its rule file again",
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(
                name: "retry",
                summary: ["then try every credential again that a server has refused"]),
        ],
        details: """
            Checks the rule file first, as 'attache check' does. Then the running proxy reads it, and the
            files that it names. Where something in it cannot be used the running rules go on, and the exit
            status is 1. A request that has begun keeps to the rules that it began with.

            A refused credential stays on hold over a reload, unless its value is another one, or its file
            was written again. --retry gives every credential another chance, as 'attache credential retry'
            does, also where a KDC or a token endpoint has refused it. Proxies that share the store take
            part. If the rule file is not reloaded, nothing is tried again. 'attache help refusals' says more.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root. SIGHUP does the same without --retry, and says on the proxy's standard error
            what came of it.
            """)

    private let proxy: RunningProxy
    private let retries: Bool

    /// Between two questions, in microseconds.
    private static let pause: UInt32 = 50_000
    /// A store may have to be opened, and files read that a network brings.
    private static let questions = 2400

    init(_ arguments: Arguments) throws(CommandError) {
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(try RuleFile.read(path).valid())
        retries = arguments.has("retry")
    }

    func run() throws(CommandError) -> Int32 {
        guard let number = try proxy.ask("POST", retries ? "/reload?retry=yes" : "/reload") else { throw proxy.absence }
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
                guard retries else { return ExitStatus.success }
                throw .failed("the running proxy is of an earlier version: 'attache credential retry' has it try again")
            case let answer where answer.hasPrefix("reloaded "):
                Console.print("the rule file was reloaded")
                if retries { Console.print(Self.sentence(lifted: answer.dropFirst("reloaded ".count))) }
                return ExitStatus.success
            case let reason:
                throw .failed("the rule file was not reloaded, and the running rules go on: \(reason)")
            }
        }
        throw .failed("the proxy has not finished reading the rule file in 2 minutes; its standard error says more")
    }

    private static func sentence(lifted count: Substring) -> String {
        switch count {
        case "0": "no credential was on hold"
        case "1": "1 refused credential is tried again"
        default: "\(count) refused credentials are tried again"
        }
    }
}

extension String {
    fileprivate var trimmingEnd: Substring {
        var text = self[...]
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}
