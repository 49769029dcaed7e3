import FTP
import HTTP

extension Status {
    /// The HTTP status for a refusal of an FTP server (RFC 959 section 4.2.2).
    public init(_ reply: FTPSession.Reply, isUpload: Bool) {
        let text = reply.text.lowercased()
        let isForbidden = isUpload || text.contains("permission") || text.contains("denied")
        switch reply.code {
        case 550: self = isForbidden ? .forbidden : .notFound
        case 532, 551, 553: self = .forbidden
        case 452, 552: self = .insufficientStorage
        case 421, 450: self = .serviceUnavailable
        default: self = .badGateway
        }
    }
}
