import Bytes
import IO

/// The names of this machine's hosts file, which the proxy's resolver reads before it asks DNS.
enum HostsFile {
    private static let limit = 4 << 20

    /// Returns the addresses of a name, in the file's order; empty if the file does not have the name.
    static func addresses(of name: String) -> [IPAddress] {
        // c-ares reads the variable too.
        let path = Environment.value(of: "CARES_HOSTS") ?? "/etc/hosts"
        guard let bytes = try? SmallFile.read(path, limit: limit) else { return [] }
        var addresses: [IPAddress] = []
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let words = line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, let address = IPAddress(String(first)), !addresses.contains(address),
                words.dropFirst().contains(where: { $0.lowercased() == name.lowercased() })
            else { continue }
            addresses.append(address)
        }
        return addresses
    }
}
