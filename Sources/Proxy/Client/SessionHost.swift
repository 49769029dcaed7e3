import Bytes
import Forwarding
import Telemetry
import Upstream

/// The side that lends clients' sessions what they need, and is told of them: one for each loop.
protocol SessionHost: AnyObject {
    var upstreams: Upstreams { get }
    /// The policy of requests that begin now.
    var policy: ServicePolicy { get }

    /// Lends a run whose exchange follows that policy, to be given back.
    func lend() -> Forwarding
    func give(_ run: Forwarding)

    /// The record is complete.
    func close(_ record: ExchangeRecord)

    /// A number that is higher each time: of sessions that wait for their clients, the lowest has waited longest.
    func takeRestNumber() -> UInt64

    /// A client has made its first request.
    func noteFirstRequest()

    /// The session of that number has ended.
    /// - Parameter isSilent: whether no request has come on it.
    func forget(_ number: Int, at address: IPAddress, isSilent: Bool)
}
