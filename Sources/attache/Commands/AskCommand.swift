/// The command `attache ask`: shows and answers challenges that wait for an operator.
struct AskCommand: Command {
    static let syntax = CommandSyntax(
        name: "ask", summary: "show the challenges that wait for an operator, and answer them",
        operands: [
            CommandOperand(name: "answer|answers|forget", isOptional: true),
            CommandOperand(name: "ID", isOptional: true),
            CommandOperand(name: "ANSWER", isOptional: true), CommandOperand(name: "NAME", isOptional: true),
        ],
        options: [
            CommandOption.config,
            CommandOption(
                name: "json", summary: ["print one JSON object with the waiting challenges,", "or with the answers"]),
            CommandOption(
                name: "persistence", value: "HOW",
                summary: ["how long to save the answer:", "none, session (default) or permanent"]),
            CommandOption(
                name: "password-file", value: "FILE",
                summary: ["the file with the password; '-': standard input;", "default: the terminal"]),
            CommandOption(
                name: "until", value: "DAY",
                summary: ["for trust: the last day of the exception, YYYY-MM-DD;", "default: in 30 days"]),
        ],
        details: """
            If a rule says 'ask', a request waits for your answer, for as long as 'timeouts { ask }' says. Then
            it is refused. Without an operand, this shows the challenges that wait. 'answer ID' answers one:

                attache ask
                attache ask answer 7 use ci
                attache ask answer 7 user builder
                attache ask answer 7 trust --until 2099-12-31
                attache ask answer 7 reject
                attache ask answer 7 cancel

            'use' sends a credential of the rule file. 'user' asks you for the password. 'trust' makes an
            exception for the key of the server's certificate. 'reject' goes to the next challenge of the
            response. 'cancel' refuses the request.

            The answer is for all requests that wait for it. --persistence saves it for later requests. session
            saves a password for the session of each client for which the server accepted it, and any other
            answer until the rule file is reloaded or the proxy stops. permanent saves a password in the store.
            none saves nothing.

            'answers' shows the saved answers, each with the ID of its question. 'forget' removes one: the next
            such challenge is a question again. An exception for a key is removed from the store too. Passwords,
            and exceptions of earlier runs, are in 'attache credential list'.

                attache ask answers
                attache ask forget 7

            The proxy is reached by the socket 'control' in the directory that 'state' names. Run the command as
            the proxy's user or as root.
            """)

    private let proxy: RunningProxy
    private let arguments: Arguments
    private let query: ControlQuery
    private let deed: Deed

    private enum Deed {
        case showQuestions
        case showAnswers
        /// Answer with this word.
        case answer(String)
        case forget
    }

    private static let acts = ["use", "user", "trust", "reject", "cancel"]

    init(_ arguments: Arguments) throws(CommandError) {
        self.arguments = arguments
        var query = ControlQuery()
        let verb = arguments.operand(0)
        switch verb {
        case "answer": deed = .answer(try Self.answer(arguments, into: &query))
        case "forget":
            guard let id = arguments.operand(1), Int(id) != nil, arguments.operand(2) == nil else {
                throw arguments.error("'forget' needs the ID of an answer; 'attache ask answers' shows it")
            }
            query.add("id", id)
            deed = .forget
        case nil, "answers":
            if arguments.operand(1) != nil { throw arguments.error("'answers' takes no further words") }
            if !arguments.has("json") { query.add("format", "text") }
            deed = verb == nil ? .showQuestions : .showAnswers
        case let verb?:
            throw arguments.error(Arguments.unknown("operand", verb, among: ["answer", "answers", "forget"]))
        }
        if verb != "answer" { try arguments.refuse(["persistence", "password-file", "until"], "belongs to 'answer'") }
        self.query = query
        proxy = try RunningProxy(by: arguments)
    }

    private static func answer(_ arguments: Arguments, into query: inout ControlQuery) throws(CommandError) -> String {
        guard let id = arguments.operand(1), let act = arguments.operand(2) else {
            throw arguments.error("'answer' needs an ID and an answer: 'answer ID \(acts.joined(separator: "|"))'")
        }
        guard Int(id) != nil else { throw arguments.error("'\(Console.printable(id))' is not the ID of a question") }
        guard acts.contains(act) else { throw arguments.error(Arguments.unknown("answer", act, among: acts)) }
        let needsName = act == "use" || act == "user"
        let name = arguments.operand(3)
        if needsName, name == nil {
            throw arguments.error(act == "use" ? "'use' needs the name of a credential" : "'user' needs a user's name")
        }
        if !needsName, name != nil { throw arguments.error("'\(act)' takes no further words") }
        if act != "user" { try arguments.refuse(["password-file"], "belongs to 'user'") }
        if act != "trust" { try arguments.refuse(["until"], "belongs to 'trust'") }
        query.add("id", id)
        query.add("act", act)
        if let name { query.add("name", name) }
        for option in ["persistence", "until"] {
            if let value = arguments.value(of: option) { query.add(option, value) }
        }
        return act
    }

    func run() throws(CommandError) -> Int32 {
        switch deed {
        case .showQuestions: return try proxy.show("/questions\(query)", or: "no challenge is waiting")
        case .showAnswers: return try proxy.show("/answers\(query)", or: "no answer is saved")
        case .answer(let act):
            let password = act == "user" ? try PasswordEntry.read(from: arguments.value(of: "password-file")) : nil
            return try proxy.show("/questions/answer\(query)", by: "POST", with: password)
        case .forget: return try proxy.show("/answers/forget\(query)", by: "POST")
        }
    }
}
