/// Where what outlives a run is kept.
enum StatePath {
    /// What `state` says, else `$XDG_STATE_HOME/attache`, else `~/.local/state/attache` (XDG Base Directory
    /// Specification: a relative path counts as none). Nil for a user without a home, as in many containers.
    static func find(_ said: String?, environment: (String) -> String? = Environment.value) -> String? {
        if let said { return said }
        if let base = absolute(environment("XDG_STATE_HOME")) { return "\(base)/attache" }
        return absolute(environment("HOME")).map { "\($0)/.local/state/attache" }
    }

    /// - Parameter what: what was to be kept.
    static func unknown(for what: String) -> String {
        "there is no directory to keep \(what) in: this user has no home, so say it in the rule file, as in: "
            + "state /var/lib/attache"
    }

    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/"), path != "/" else { return nil }
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
