/// What a run of the load generator came to.
struct Load {
    var requests = 0
    /// Bytes of bodies.
    var bytes = 0
    var milliseconds = 0

    var requestsPerSecond: Double { Double(requests) * 1000 / Double(max(1, milliseconds)) }
}
