import Authentication

/// Whether a request is still carried out, as challenges need to know it. Implemented by the side that watches the client.
public protocol RequestPresence: AnyObject {
    /// Whether nothing of the request is continued.
    var isOver: Bool { get }

    /// The request sends an answer that decides for all who wait: it goes on until the trial is no more, a lease or an attempt.
    func beginTrial(_ trial: AnyObject)

    /// The request begins a session at the server, for all who wait for one.
    func beginLogin(_ lease: Lease)
}
