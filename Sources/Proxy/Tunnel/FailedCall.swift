import Telemetry

/// An origin that was called for a tunnel and not reached, or not trusted: what a request in the tunnel is told, and what
/// its record is to say.
struct FailedCall {
    let refusal: Refusal
    private let trustFindings: String?
    private let trustRule: String?

    /// - Parameter record: that of the CONNECT, in which it was noted what was found.
    init(_ refusal: Refusal, notedIn record: ExchangeRecord) {
        self.refusal = refusal
        trustFindings = record.trustFindings
        trustRule = record.trustRule
    }

    func note(in record: ExchangeRecord) {
        record.trustFindings = trustFindings
        record.trustRule = trustRule
    }
}
