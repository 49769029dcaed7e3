import Bytes
import Crypto
import Model
import Rules

/// `attache ask`: the challenges that wait for an operator, and the operator's answers.
struct AskCommand: Command {
    static let syntax = CommandSyntax(
        name: "ask", summary: "show the challenges that wait for an operator, and answer them",
        operands: [
            CommandOperand(name: "answer", isOptional: true), CommandOperand(name: "ID", isOptional: true),
            CommandOperand(name: "ANSWER", isOptional: true), CommandOperand(name: "NAME", isOptional: true),
        ],
        options: [
            CommandOption(
                name: "config", value: "FILE",
                summary: ["the rule file it runs with; default: ./proxy.conf, else /etc/attache/proxy.conf"]),
            CommandOption(name: "json", summary: ["one JSON array of the challenges that wait"]),
            CommandOption(
                name: "persistence", value: "HOW",
                summary: ["how long the answer holds: none, session (which is usual) or permanent"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: ["where the password stands; '-': on standard input; default: the terminal"]),
            CommandOption(
                name: "until", value: "DAY",
                summary: ["with trust: the last day of the exception, YYYY-MM-DD; default: 30 days from now"]),
        ],
        details: """
            A request whose challenge a rule says 'ask' about is held until somebody answers, for as long as
            'timeouts { ask }' says, and then refused. Without an operand this shows the challenges that
            wait, and 'answer' answers one: with a credential of the rule file; with a user, and a password
            that is asked for; by an exception for the key of a server's certificate; to go on to the
            response's next challenge; or to refuse the request.

                attache ask answer 7 use ci
                attache ask answer 7 user builder
                attache ask answer 7 trust --until 2099-12-31
                attache ask answer 7 reject
                attache ask answer 7 cancel

            The answer is for all requests that wait with it. By --persistence it also holds for later ones:
            session keeps a password for the session of each client that it was accepted for, and another
            answer until the rule file is reloaded or the proxy ends; permanent puts a password into the
            store; none keeps nothing.

            The proxy is reached by the socket 'control' in the directory that 'state' names, as its own
            user or as root.
            """)

    private let proxy: RunningProxy
    private let arguments: Arguments
    private let query: ControlQuery
    /// Nil: the list is shown.
    private let act: String?

    private static let acts = ["use", "user", "trust", "reject", "cancel"]

    init(_ arguments: Arguments) throws(CommandError) {
        self.arguments = arguments
        var query = ControlQuery()
        if let verb = arguments.operand(0) {
            guard verb == "answer" else { throw arguments.error(Arguments.unknown("operand", verb, among: ["answer"])) }
            act = try Self.answer(arguments, into: &query)
        } else {
            act = nil
            let alone = ["persistence", "password-file", "until"].first { arguments.has($0) }
            if let alone { throw arguments.error("'--\(alone)' belongs to 'answer'") }
            if !arguments.has("json") { query.add("format", "text") }
        }
        self.query = query
        let path = try RuleFilePath.choose(arguments.value(of: "config"))
        proxy = try RunningProxy(of: try RuleFile.read(path), at: path)
    }

    private static func answer(_ arguments: Arguments, into query: inout ControlQuery) throws(CommandError) -> String {
        guard let id = arguments.operand(1), let act = arguments.operand(2) else {
            throw arguments.error("say which question, and the answer: 'answer ID \(acts.joined(separator: "|"))'")
        }
        guard Int(id) != nil else { throw arguments.error("'\(Console.printable(id))' is no question's number") }
        guard acts.contains(act) else { throw arguments.error(Arguments.unknown("answer", act, among: acts)) }
        let needsName = act == "use" || act == "user"
        let name = arguments.operand(3)
        if needsName, name == nil {
            throw arguments.error(act == "use" ? "'use' needs the name of a credential" : "'user' needs a user's name")
        }
        if !needsName, name != nil { throw arguments.error("'\(act)' takes nothing more") }
        if act != "user", arguments.has("password-file") {
            throw arguments.error("'--password-file' belongs to 'user'")
        }
        if act != "trust", arguments.has("until") { throw arguments.error("'--until' belongs to 'trust'") }
        query.add("id", id)
        query.add("act", act)
        if let name { query.add("name", name) }
        for option in ["persistence", "until"] {
            if let value = arguments.value(of: option) { query.add(option, value) }
        }
        return act
    }

    func run() throws(CommandError) -> Int32 {
        guard let act else { return try show() }
        let password = act == "user" ? try PasswordEntry.read(from: arguments.value(of: "password-file")) : nil
        guard let answer = try proxy.ask("POST", "/questions/answer\(query)", with: password) else {
            throw proxy.absence
        }
        Console.printText(answer)
        return ExitStatus.success
    }

    private func show() throws(CommandError) -> Int32 {
        guard let answer = try proxy.ask("GET", "/questions\(query)") else { throw proxy.absence }
        if answer.isEmpty { Console.error("no challenge waits for an answer") } else { Console.printText(answer) }
        return ExitStatus.success
    }
}
