import IO

@main
struct Main {
    static func main() {
        Program.run(arguments: Array(ProcessArguments.all.dropFirst()))
    }
}
