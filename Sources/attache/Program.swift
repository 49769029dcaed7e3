import Glibc

enum Program {
    static func run(arguments: [String]) -> Never {
        if arguments.first == "run" { exit(RunCommand(configuration: arguments.last ?? "").run()) }
        exit(2)
    }
}
