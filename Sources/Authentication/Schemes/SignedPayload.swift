import Bytes
import Crypto

/// What a signature says of a request's content: `X-Amz-Content-Sha256`, and the last line of what is signed.
public enum SignedPayload: Sendable, Equatable {
    /// The SHA-256 of the content.
    case digest([UInt8])
    /// `UNSIGNED-PAYLOAD`.
    case unsigned
    /// A digest that the client has made, and the proxy has not.
    case stated(String)
    /// How the client has framed content that is not signed.
    case framed(String)

    /// Why a client's word cannot be kept: its content is signed piece by piece, with a key that is not ours.
    public struct SignedByClient: Error {}

    /// - Parameter field: the client's own `X-Amz-Content-Sha256`.
    public init(_ field: Span<UInt8>) throws(SignedByClient) {
        let word = field.text
        if word.hasPrefix("STREAMING-AWS4-") { throw SignedByClient() }
        self = word.hasPrefix("STREAMING-") ? .framed(word) : .stated(word)
    }

    var text: String {
        switch self {
        case .digest(let digest): Hex.encode(digest)
        case .unsigned: "UNSIGNED-PAYLOAD"
        case .stated(let word), .framed(let word): word
        }
    }
}
