extension Forwarding {
    /// Whose the request is.
    public enum Purpose: Sendable {
        /// A client's, which gets the response.
        case client
        /// The proxy's own: the caller gets the response, and the origin's challenges as they are.
        case own
        /// The proxy's own, but that the origin's challenges are answered as for a client.
        case trial
    }
}
