/// The program of `floor.c`: what splicing itself costs, and nothing beside it.
enum FloorContestant {
    static func relay(_ binary: String, origin: UInt16) -> Contestant {
        Contestant(
            name: "floor", route: { .relay(port: $0) }, configuration: { port, _ in "\(port) \(origin)\n" },
            command: { [binary, $0] })
    }
}
