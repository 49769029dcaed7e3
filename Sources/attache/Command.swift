/// One of the program's commands.
protocol Command {
    static var syntax: CommandSyntax { get }

    /// Throws when the arguments, each as the syntax wants it, make no sense together.
    init(_ arguments: Arguments) throws(CommandError)

    /// - Returns: the process's exit status.
    func run() throws(CommandError) -> Int32
}
