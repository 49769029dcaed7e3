extension ExchangeFailure {
    /// The failure of a request of our own that took this way, for the one that waits for its outcome.
    public func sentence(by way: Way) -> String {
        switch self {
        case .refused(let refusal): refusal.sentence
        case .upstreamFailed(let failure): Refusal(failure, of: way.relay?.origin.title ?? "the origin").sentence
        case .handshakeFailed(_, let sentence), .cutShort(_, let sentence): sentence
        case .clientLost: "the client is gone"
        }
    }
}
