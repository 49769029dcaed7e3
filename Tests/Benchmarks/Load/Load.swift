/// What a run of the load generator came to.
struct Load {
    var requests = 0
    /// Bytes of bodies.
    var bytes = 0
}
