/// Why bytes are no certificate. The fault of whoever wrote the file or sent the bytes.
public enum CertificateError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Not the DER of one X.509 certificate, or bytes follow it.
    case malformed
    /// The PEM block with this number, from 1, is damaged.
    case malformedBlock(Int)
    /// Text without a PEM block of the kind that was looked for.
    case none
    /// More bytes or more blocks than anybody needs.
    case tooLarge

    public var description: String {
        switch self {
        case .malformed: "not an X.509 certificate in DER"
        case .malformedBlock(let number): "PEM block \(number) is damaged"
        case .none: "no PEM block with a certificate"
        case .tooLarge: "more certificates than can be of use"
        }
    }
}
