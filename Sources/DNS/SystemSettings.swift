import CCares
import Glibc

/// What `resolv.conf`, `nsswitch.conf` and the environment say of names, as c-ares reads them.
struct SystemSettings {
    private let domains: [String]
    /// A name with as many dots is asked for as it is before a domain is put behind it.
    private let dots: Int
    /// `f` for the hosts file, `b` for name servers, in their order.
    private let sources: String

    init(domains: [String], dots: Int, sources: String) {
        self.domains = domains
        self.dots = dots
        self.sources = sources
    }

    init() throws(ResolutionError) {
        var channel: ares_channel?
        try Channel.check(ares_init(&channel))
        defer { ares_destroy(channel) }
        var options = ares_options()
        var mask: Int32 = 0
        try Channel.check(ares_save_options(channel, &options, &mask))
        defer { ares_destroy_options(&options) }
        domains = (0..<max(0, Int(options.ndomains))).compactMap { place in
            options.domains?[place].flatMap { String(validatingCString: $0) }
        }
        dots = Int(options.ndots)
        sources = options.lookups.flatMap { String(validatingCString: $0) } ?? "fb"
    }

    var asksServers: Bool { sources.contains("b") }
    var readsHostsFirst: Bool { sources.first == "f" }
    var readsHostsLast: Bool { !readsHostsFirst && sources.contains("f") }

    /// The forms of a name in the order in which they are to be asked for (resolv.conf(5), `ndots`).
    func candidates(for name: String) -> [String] {
        let longer = domains.map { $0 == "." ? name : "\(name).\($0)" }
        let isFirst = name.utf8.count { $0 == UInt8(ascii: ".") } >= dots
        return isFirst ? [name] + longer : longer + [name]
    }
}
