import Authentication
import Bytes
import Crypto

extension HelperOutput {
    /// Reads what helpers print as JSON (RFC 8259), which is not trusted.
    enum JSON {
        /// The limits of fields, and of the value of one in bytes.
        private static let (mostFields, longestField) = (16, 16 << 10)
        /// The limit of a helper's own words, in bytes.
        private static let mostWords = 200

        /// docker-credential-pass ends with status 0 and empty members where it has nothing.
        static func docker(_ output: [UInt8]) throws(HelperOutput.Fault) -> HelperOutput.Answer {
            guard let members = JSONMembers(output) else { throw .notJSON }
            guard let user = nonEmpty(members, "Username"), let bytes = nonEmpty(members, "Secret") else {
                throw .nothing
            }
            return HelperOutput.Answer(.password(user: try word(user), try secret(bytes)))
        }

        /// ExecCredential of client.authentication.k8s.io, v1 and v1beta1.
        static func kubectl(_ output: [UInt8]) throws(HelperOutput.Fault) -> HelperOutput.Answer {
            guard let members = JSONMembers(output) else { throw .notJSON }
            let versions = ["v1", "v1beta1"].map { Array("client.authentication.k8s.io/\($0)".utf8) }
            guard members.text("kind") == Array("ExecCredential".utf8),
                let version = members.text("apiVersion"), versions.contains(version)
            else { throw .form("an ExecCredential of client.authentication.k8s.io/v1 or v1beta1") }
            guard let status = members.object("status") else { throw .nothing }
            var answer = HelperOutput.Answer(try kubectl(status))
            answer.end = try time(status, "expirationTimestamp")
            return answer
        }

        /// A token, a certificate with its key, or both.
        private static func kubectl(_ status: JSONMembers) throws(HelperOutput.Fault) -> HelperOutput.Answer.Content {
            let token = try nonEmpty(status, "token").map(secret)
            switch (nonEmpty(status, "clientCertificateData"), nonEmpty(status, "clientKeyData"), token) {
            case (nil, nil, nil): throw .nothing
            case (nil, nil, let token?): return .token(token)
            case (var certificate?, var key?, let token):
                let (certificate, key) = (Secret(wiping: &certificate), Secret(wiping: &key))
                return token.map { .tokenAndIdentity($0, certificate: certificate, key: key) }
                    ?? .identity(certificate: certificate, key: key)
            // As kubectl does.
            default: throw .form("an ExecCredential with both certificate and key, or neither")
            }
        }

        /// The output of a `credential_process` of AWS, version 1.
        static func aws(_ output: [UInt8]) throws(HelperOutput.Fault) -> HelperOutput.Answer {
            guard let members = JSONMembers(output) else { throw .notJSON }
            guard members["Version"] == .number(1) else { throw .form("the output of a credential process, version 1") }
            guard let access = nonEmpty(members, "AccessKeyId"), let key = nonEmpty(members, "SecretAccessKey") else {
                throw .nothing
            }
            let token = try nonEmpty(members, "SessionToken").map(secret)
            var answer = HelperOutput.Answer(.keys(access: try word(access), secret: try secret(key), token: token))
            answer.end = try time(members, "Expiration")
            return answer
        }

        /// The answer of a credential helper of Bazel: fields with lists of values.
        static func bazel(_ output: [UInt8]) throws(HelperOutput.Fault) -> HelperOutput.Answer {
            guard let members = JSONMembers(output) else { throw .notJSON }
            guard let headers = members.object("headers"), !headers.names.isEmpty else { throw .nothing }
            var authorization: Secret?
            var fields: [GivenAnswer.Field] = []
            for name in headers.names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                let name = try word(name)
                guard mayBeSet(name) else { throw .field(String(name.prefix(64))) }
                guard let values = headers.texts(name) else { throw .form("an object with 'headers' of lists") }
                for value in values {
                    guard value.count <= longestField else { throw .longLine }
                    if name.lowercased() == "authorization", authorization == nil {
                        authorization = try secret(value)
                    } else {
                        fields.append(GivenAnswer.Field(name: name, value: try secret(value)))
                    }
                }
            }
            guard authorization != nil || !fields.isEmpty else { throw .nothing }
            guard fields.count <= mostFields else { throw .manyLines(mostFields) }
            var answer = HelperOutput.Answer(.fields(authorization: authorization, fields))
            answer.end = try time(members, "expires")
            return answer
        }

        /// Whether a helper may set the field: not one that frames the message, is about the connection, or names the
        /// server.
        private static func mayBeSet(_ name: String) -> Bool {
            let framing = [
                "host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade",
                "expect", "via", "content-encoding", "content-type", "range", "forwarded",
            ]
            let lower = name.lowercased()
            return !name.isEmpty && name.utf8.allSatisfy(\.isTokenByte) && !framing.contains(lower)
                && !lower.hasPrefix("proxy-") && !lower.hasPrefix("sec-")
        }

        /// The two lines of a credential provider of Cargo: the versions that it supports, and its answer.
        static func cargo(_ output: [UInt8]) throws(HelperOutput.Fault) -> HelperOutput.Answer {
            let lines = try HelperOutput.lines(output, count: 8).filter { !$0.isEmpty }
            guard lines.count >= 2, let hello = JSONMembers(Array(lines[0])), hello["v"] != nil else {
                throw .form("two lines, of which the first names the versions of the protocol")
            }
            guard let members = JSONMembers(Array(lines[1])) else { throw .notJSON }
            if let failure = members.object("Err") {
                switch failure.text("kind").map({ $0.span.text }) {
                case "not-found", "url-not-supported", "operation-not-supported": throw .nothing
                default: throw .said(words(failure.text("message") ?? []))
                }
            }
            guard let given = members.object("Ok"), let token = nonEmpty(given, "token") else { throw .nothing }
            var answer = HelperOutput.Answer(.fields(authorization: try secret(token), []))
            switch given.text("cache").map({ $0.span.text }) {
            case "never": answer.isEphemeral = true
            case "expires":
                guard case .number(let seconds)? = given["expiration"], seconds >= 0, seconds < 1e12 else {
                    throw .time
                }
                answer.end = WallTime(seconds: Int(seconds))
            default: break
            }
            return answer
        }

        /// Text of a helper for operators: one line, without control characters.
        private static func words(_ bytes: [UInt8]) -> String {
            let printable = bytes.prefix(mostWords).map { $0 < .space || $0 == .delete ? UInt8.space : $0 }
            return printable.isEmpty ? "nothing" : String(decoding: printable, as: UTF8.self)
        }

        private static func nonEmpty(_ members: JSONMembers, _ name: String) -> [UInt8]? {
            members.text(name).flatMap { $0.isEmpty ? nil : $0 }
        }

        private static func time(_ members: JSONMembers, _ name: String) throws(HelperOutput.Fault) -> WallTime? {
            guard let text = nonEmpty(members, name) else { return nil }
            guard let time = InternetTime.time(text.span) else { throw .time }
            return time
        }

        private static func word(_ bytes: [UInt8]) throws(HelperOutput.Fault) -> String {
            guard !bytes.contains(where: isControl) else { throw .control }
            return try HelperOutput.text(bytes[...])
        }

        private static func secret(_ bytes: [UInt8]) throws(HelperOutput.Fault) -> Secret {
            guard !bytes.contains(where: isControl) else { throw .control }
            return HelperOutput.secret(bytes[...])
        }

        private static func isControl(_ byte: UInt8) -> Bool { byte < .space || byte == .delete }
    }
}
