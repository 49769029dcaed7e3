/// Why there is no file, or not all of it.
public enum FTPError: Error, Equatable, Sendable {
    /// This machine has no FTP; the text is a sentence.
    case unavailable(String)
    /// The path cannot be said in FTP.
    case unspeakable
    /// The server does not take this user with this password.
    case loginRefused(FTPReply)
    /// The server says no, for now (4xx) or for good (5xx).
    case refused(FTPReply)
    case unreachable
    /// The server was silent for too long, at first or in between.
    case timedOut
    /// The server offers no TLS, and without it nothing is to be said.
    case notSecured
    /// TLS was offered, and came to nothing; the text is libcurl's.
    case insecure(String)
    /// The connection broke, or what the server said was no FTP; the text is libcurl's.
    case broken(String)
    /// Whoever wanted the file does not want it any more.
    case cancelled
}
