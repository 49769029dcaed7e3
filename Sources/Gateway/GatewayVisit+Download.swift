import Bytes
import FTP
import HTTP

extension GatewayVisit {
    /// GET and HEAD by RETR and LIST.
    struct Download {
        let request: GatewayRequest
        let answer: GatewayAnswer
        let session: FTPSession

        private var isHead: Bool { request.head.method == .head }

        func run() throws(FTPSession.Failure) {
            let path = request.path
            if path.isDirectory { return try list(path) }
            let file: FTPSession.File
            do throws(FTPSession.Failure) {
                file = try session.inspect(path)
            } catch {
                guard case .refused(let reply) = error, reply.code == 550, isDirectory(path) else { throw error }
                return redirect(toDirectory: path)
            }
            try send(path, file)
        }

        // MARK: - Files

        private func send(_ path: FTPPath, _ file: FTPSession.File) throws(FTPSession.Failure) {
            var description = GatewayAnswer.Description(
                type: MediaType.of(path.lastComponent), length: path.isText ? nil : file.size,
                modified: file.modified.flatMap(HTTPDate.text))
            if let modified = description.modified, request.value(named: "if-modified-since") == modified {
                _ = answer.begin(GatewayAnswer.Description(status: .notModified, modified: modified))
                return
            }
            var wanted: Range<Int>?
            if let size = description.length {
                description.acceptsRanges = true
                switch range(of: size, description.modified) {
                case .whole: break
                case .part(let part):
                    wanted = part
                    description.status = .partialContent
                    description.length = part.count
                    description.range = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
                case .none:
                    return answer.say(
                        .rangeNotSatisfiable, "the file has \(size) bytes, and the requested range is not in it",
                        field: ("Content-Range", "bytes */\(size)"))
                }
            }
            if isHead {
                _ = answer.begin(description)
                return
            }
            try session.retrieve(path, wanted) { bytes in
                (answer.hasBegun || answer.begin(description)) && answer.write(bytes)
            }
            if !answer.hasBegun { _ = answer.begin(description) }
            answer.finish()
        }

        private func range(of size: Int, _ modified: String?) -> ByteRange {
            guard let field = request.value(named: "range") else { return .whole }
            if let validator = request.value(named: "if-range"), validator != modified { return .whole }
            return ByteRange(field, of: size)
        }

        // MARK: - Directories

        private func isDirectory(_ path: FTPPath) -> Bool {
            (try? session.inspect(path.asDirectory)) != nil
        }

        /// Redirects to the directory by a relative reference, so that links in the listing work with any form of the
        /// URL.
        private func redirect(toDirectory path: FTPPath) {
            // A name with a colon would be read as a scheme (RFC 3986 section 4.2).
            let place = "./\(String(decoding: path.lastComponent, as: UTF8.self))/"
            answer.say(.movedPermanently, "it is a directory: \(place)", field: ("Location", place))
        }

        private func list(_ path: FTPPath) throws(FTPSession.Failure) {
            let asksForPage = request.value(named: "accept")?.contains("text/html") ?? false
            let description = GatewayAnswer.Description(
                type: asksForPage ? "text/html; charset=utf-8" : "text/plain; charset=utf-8")
            if isHead {
                _ = try session.inspect(path)
                _ = answer.begin(description)
                return
            }
            let page = asksForPage ? ListingPage(path) : nil
            try session.retrieve(path) { bytes in
                guard answer.hasBegun || answer.begin(description) else { return false }
                guard let page else { return answer.write(bytes) }
                page.add(bytes)
                return page.flush(to: answer)
            }
            if !answer.hasBegun { guard answer.begin(description) else { return } }
            if let page {
                page.end()
                guard page.flush(to: answer) else { return }
            }
            answer.finish()
        }
    }
}
