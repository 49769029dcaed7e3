import Bytes
import IO
import Rules

/// The command `attache reload`: has the running proxy read its rule file again, and waits for the result.
struct ReloadCommand: Command {
    static let syntax = CommandSyntax(
        name: "reload", summary: "load the rule file into the running proxy",
        options: [
            CommandOption.config,
            CommandOption(
                name: "retry",
                summary: ["then send every refused credential again"]),
        ],
        details: """
            Checks the rule file, as 'attache check' does. Then the running proxy reads it, and the files that
            it names. If one of them cannot be used, the old rules stay in force, and the exit status is 1. A
            request that has begun continues under the old rules.

                attache reload
                attache reload --retry

            A refused credential stays on hold, unless its value has changed or its file was written again.
            --retry sends every refused credential again, as 'attache credential retry' does. This is also for a
            refusal by a KDC or a token endpoint, and on all proxies that share the store. If the rule file is
            not reloaded, nothing is sent again. See 'attache help refusals'.

            The proxy is reached by the socket 'control' in the directory that 'state' names. Run the command as
            the proxy's user or as root. SIGHUP does the same without --retry, and reports the result on the
            proxy's standard error.
            """)

    private let proxy: RunningProxy
    private let retries: Bool

    /// The pause between two questions.
    private static let pause: Milliseconds = 50
    /// The limit of questions. A store may have to be opened, and files read over a network.
    private static let questions = 2400

    init(_ arguments: Arguments) throws(CommandError) {
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(try RuleFile.read(path).valid(), at: path)
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
            case "pending": Pause.take(Self.pause)
            case "reloaded":
                Console.print("the rule file was reloaded")
                guard retries else { return ExitStatus.success }
                throw .failed("the running proxy is an older version: run 'attache credential retry' instead")
            case let answer where answer.hasPrefix("reloaded "):
                Console.print("the rule file was reloaded")
                if retries { Console.print(Self.sentence(lifted: answer.dropFirst("reloaded ".count))) }
                return ExitStatus.success
            case let reason:
                throw .failed("the rule file was not reloaded, the old rules stay in force: \(reason)")
            }
        }
        throw .failed(
            "the proxy has not read the rule file within 2 minutes, and uses the old rules until it has; "
                + "see its standard error")
    }

    private static func sentence(lifted count: Substring) -> String {
        switch count {
        case "0": "no credential was on hold"
        case "1": "1 refused credential is sent again"
        default: "\(count) refused credentials are sent again"
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
