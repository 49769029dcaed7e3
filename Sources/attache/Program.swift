import Glibc

enum Program {
    static let version = "0.1.0"

    static func run(arguments: [String]) -> Never {
        if arguments.first == "run" { exit(RunCommand(configuration: arguments.last ?? "").run()) }
        exit(2)
    }
}
