import FTP
import HTTP
import Upstream

extension GatewayVisit {
    /// PUT by STOR.
    struct Upload {
        let request: GatewayRequest
        let answer: GatewayAnswer
        let session: FTPSession

        /// The reason why the server is not asked at all; nil: it is.
        static func refusal(of request: GatewayRequest) -> Refusal? {
            if request.path.isDirectory {
                return Refusal(
                    .methodNotAllowed, .httpRequestError, "a directory cannot be stored by ftp",
                    fields: [(name: "Allow", value: "GET, HEAD")])
            }
            if request.head.fields.present.contains(.contentRange) {
                return Refusal(
                    .badRequest, .httpRequestError, "a part of a file cannot be stored by ftp: send all of it")
            }
            return nil
        }

        func run() throws(FTPSession.Failure) {
            let path = request.path
            let isNew = try !exists(path)
            try session.store(path, length: request.bodyLength) { request.readBody(into: $0) }
            _ = answer.begin(
                isNew
                    ? GatewayAnswer.Description(status: .created, length: 0)
                    : GatewayAnswer.Description(status: .noContent))
        }

        private func exists(_ path: FTPPath) throws(FTPSession.Failure) -> Bool {
            do throws(FTPSession.Failure) {
                _ = try session.inspect(path)
                return true
            } catch {
                guard case .refused(let reply) = error, reply.code >= 500 else { throw error }
                return false
            }
        }
    }
}
