import Admin
import Bytes
import IO

/// The links that log in to the dashboard.
struct DashboardLogin: Sendable {
    let address: SocketAddress
    let access: DashboardAccess
    let isSecure: Bool

    /// Returns a link for one login. Its token follows `#`, which browsers never send.
    ///
    /// - Returns: nil if the system gives no random bytes.
    func makeLink() -> String? {
        guard let token = access.makeToken() else { return nil }
        let isAny = [IPAddress(v4: 0), IPAddress(v6High: 0, low: 0)].contains(address.address)
        let place = isAny ? "localhost:\(address.port)" : "\(address)"
        return "\(isSecure ? "https" : "http")://\(place)/dashboard/#token=\(token)"
    }

    /// Prints a link for the person who started the proxy. It is not written to a file or a journal, which others may
    /// read.
    func announce() {
        guard Terminal.isStandardError, let link = makeLink() else { return }
        Console.error("the dashboard (link valid for \(DashboardAccess.tokenMinutes) minutes): \(link)")
    }
}
