/// The command `attache learn`: prints rules for the servers that the running proxy has met.
struct LearnCommand: Command {
    static let syntax = CommandSyntax(
        name: "learn", summary: "print rules for the servers that have asked for a login",
        operands: [CommandOperand(name: "URL", isOptional: true)],
        options: [
            CommandOption.config
        ],
        details: """
            Prints a 'challenge' rule for each protection space that has asked for a login since the proxy was
            started. The rule has host, port, realm and method. It uses the credential that answered, or one
            that a rule almost used, or a placeholder to fill in. A comment above each rule says what happened.
            Read the rules before you use them. With a URL, only those of its server.

                attache learn http://ci.example.com/

            To make rules from traffic, write 'mode report' in the rule file: then nothing is sent. When the
            rules are good, paste them and remove that line.
            """)

    private let proxy: RunningProxy
    private let target: String

    init(_ arguments: Arguments) throws(CommandError) {
        var query = ControlQuery()
        if let url = arguments.operand(0) { query.add(try arguments.origin(of: url)) }
        target = "/learned\(query)"
        proxy = try RunningProxy(by: arguments)
    }

    func run() throws(CommandError) -> Int32 { try proxy.show(target, or: "there was no challenge yet") }
}
