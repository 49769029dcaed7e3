import HTTP
import IO
import Telemetry
import Upstream

extension ExchangeFailure {
    /// The meaning of a request body's end for the exchange, while the client has no answer.
    init(_ failure: RequestBody.Failure) {
        switch failure {
        case .client(.timedOut): self = .refused(.lateBody)
        case .client: self = .clientLost
        case .invalid(let error): self = .refused(Refusal(error))
        case .upstream(.timedOut): self = .upstreamFailed(.timedOut)
        case .upstream: self = .upstreamFailed(.died)
        case .tooLarge:
            self = .refused(
                Refusal(
                    .contentTooLarge, .httpRequestError,
                    "the answer to the origin covers the request body, which is larger than this proxy keeps "
                        + "(limits replay-memory and replay-disk)"))
        case .crowdedOut:
            self = .refused(
                Refusal(
                    .serviceUnavailable, .proxyInternalError,
                    "the answer to the origin covers the request body, and other requests take all the room that this "
                        + "proxy has for keeping it (limits replay-disk-total); try again"))
        case .copyLost:
            self = .refused(
                Refusal(
                    .serviceUnavailable, .proxyInternalError,
                    "the request body could not be kept for sending it again; try again"))
        }
    }
}
