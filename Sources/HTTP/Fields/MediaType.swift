/// The media type of a file, by its name.
public enum MediaType {
    private static let byExtension = [
        "css": "text/css", "csv": "text/csv", "gif": "image/gif", "gz": "application/gzip", "htm": "text/html",
        "html": "text/html", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
        "json": "application/json", "log": "text/plain", "md": "text/markdown", "pdf": "application/pdf",
        "png": "image/png", "svg": "image/svg+xml", "tar": "application/x-tar", "txt": "text/plain",
        "webp": "image/webp", "xml": "application/xml", "xz": "application/x-xz", "zip": "application/zip",
    ]

    /// - Parameter name: the last segment of a path; `application/octet-stream` if its extension is unknown.
    public static func of(_ name: some BidirectionalCollection<UInt8>) -> String {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "application/octet-stream" }
        let suffix = String(decoding: name[name.index(after: dot)...], as: UTF8.self).lowercased()
        return byExtension[suffix] ?? "application/octet-stream"
    }
}
