import HTTP

/// An answer the proxy makes itself instead of an upstream's: what the client is told, and in which terms.
struct Refusal: Error {
    let status: Status
    let error: ProxyError
    /// One sentence for a person, without internals and secrets.
    let sentence: String
    /// Fields that belong to the answer, such as a challenge of our own.
    var fields: [(name: String, value: String)] = []
    /// Whether the client's connection can carry another request after this.
    var keepsConnection = true

    init(_ status: Status, _ error: ProxyError, _ sentence: String) {
        self.status = status
        self.error = error
        self.sentence = sentence
    }

    /// A message that cannot be trusted to end where it seems to: the connection ends with the answer.
    init(_ error: HTTPError) {
        status = error.status
        self.error = error.proxyError
        sentence = "\(error)"
        keepsConnection = error.fault != .client
    }
}
