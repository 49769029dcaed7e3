import Bytes
import Forwarding
import HTTP2
import Telemetry
import Upstream

/// The owner of client sessions, which lends them what they need: one for each loop.
protocol SessionHost: AnyObject {
    var upstreams: Upstreams { get }
    /// The requests of all clients, if their number is limited.
    var requests: ClientRequests { get }
    /// The policy of requests that begin now.
    var policy: ServicePolicy { get }
    /// The policy's limits of time.
    var timeouts: Policy.Timeouts { get }

    /// Lends a run whose exchange has the current policy; the caller must give it back.
    func lend() -> Forwarding
    func give(_ run: Forwarding)

    /// Takes the complete record of an exchange.
    func close(_ record: ExchangeRecord)

    /// Returns a number that is higher each time: of the sessions that wait for their clients, the lowest has waited
    /// longest.
    func takeRestNumber() -> UInt64

    /// Records a client's first request.
    func noteFirstRequest()

    /// Notes an HTTP/2 connection, which must leave at its end.
    func joinStreams(from address: IPAddress?) -> StreamCount.Share
    func leaveStreams(_ share: StreamCount.Share)
    /// Counts a stream of such a connection.
    /// - Returns: the streams of which there are too many; nil if there is room.
    func beginStream(in share: StreamCount.Share) -> StreamCount.Shortage?
    /// Ends the stream that has waited longest for its client, so that another gets its place soon.
    /// - Parameter share: the client whose streams qualify if those of one address are too many.
    /// - Returns: false if none has waited long.
    func displaceStream(_ shortage: StreamCount.Shortage, in share: StreamCount.Share) -> Bool
    func endStream(in share: StreamCount.Share)

    /// Reports that the connection of a client was ended, because the client made it do useless work.
    func noteFlood(_ excess: ServerConnection.Excess, at address: IPAddress?)

    /// Removes the session of that number, which has ended.
    /// - Parameter isSilent: whether no request has come on it.
    func forget(_ number: Int, at address: IPAddress?, isSilent: Bool)
}
