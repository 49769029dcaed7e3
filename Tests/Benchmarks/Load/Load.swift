/// The result of a run of the load generator.
struct Load {
    var requests = 0
    /// Bytes of bodies.
    var bytes = 0
}
