@main
struct Main {
    static func main() {
        Program.run(arguments: Array(CommandLine.arguments.dropFirst()))
    }
}
