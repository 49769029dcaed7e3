import Challenges
import HTTP
import TLS

/// An answer the proxy makes itself instead of an upstream's: what the client is told, and in which terms.
public struct Refusal: Error {
    public let status: Status
    public let error: ProxyError
    /// One sentence for a person, without internals and secrets.
    public var sentence: String
    /// The sentence as `Proxy-Status` has it.
    public var details: String
    /// The alert with which a TLS peer broke off.
    public var alert: TLSAlert?
    /// Why an origin was not trusted, for the record.
    public var trust: TrustRefusal?
    /// That an operator can answer, so that another connection does better.
    public var question: QuestionSubject?
    /// Further help for that person, in lines of its own.
    public var explanation: String?
    /// Fields that belong to the answer, such as a challenge of our own.
    public var fields: [(name: StaticString, value: String)] = []
    /// The body: the sentence, and behind an empty line the explanation, if there is one.
    public var text: String { explanation.map { "\(sentence)\n\n\($0)\n" } ?? "\(sentence)\n" }
    /// The status with which a parent refused, where that is not the client's.
    public var receivedStatus: Status?
    /// Whether nothing was sent yet, and another parent may do better.
    public var mayGoAnotherWay = false
    /// Whether the client's connection can carry another request after this.
    public var keepsConnection = true

    public init(_ status: Status, _ error: ProxyError, _ sentence: String) {
        self.status = status
        self.error = error
        self.sentence = sentence
        details = sentence
    }

    /// A message that cannot be trusted to end where it seems to: the connection ends with the answer.
    public init(_ error: HTTPError) {
        status = error.status
        self.error = error.proxyError
        sentence = "\(error)"
        details = sentence
        keepsConnection = error.fault != .client
    }
}

extension Refusal {
    /// Too many clients want the same kind of slow work.
    /// - Parameter retryAfter: seconds.
    public static func busy(_ sentence: String, retryAfter: Int) -> Refusal {
        var refusal = Refusal(.serviceUnavailable, .connectionLimitReached, "\(sentence); try again")
        refusal.fields = [(name: "Retry-After", value: "\(retryAfter)")]
        return refusal
    }

    public static var lateBody: Refusal {
        var refusal = Refusal(.requestTimeout, .httpRequestError, "the request's body did not arrive in time")
        refusal.keepsConnection = false
        return refusal
    }

    public static var lateHead: Refusal {
        var refusal = Refusal(.requestTimeout, .httpRequestError, "the request's head did not arrive in time")
        refusal.keepsConnection = false
        return refusal
    }
}
