import Bytes
import Model

/// Reads the parts of a `credential` that signs requests.
struct SignatureReader: BlockReader {
    let context: ReadingContext

    func aws(_ block: CredentialBlock) -> SignatureSource? {
        let place = block.values(.aws)
        guard place.count == 2, place.allSatisfy({ !$0.text.isEmpty && $0.text.utf8.allSatisfy(\.isOfScope) }) else {
            if let directive = block.directive(.aws) {
                log.report(at: directive.range, "'aws' needs a region and a service, such as eu-central-1 s3")
            }
            return nil
        }
        guard let keys = keys(block) else { return nil }
        return .aws(
            SignatureSource.AWS(
                region: place[0].text, service: place[1].text, keys: keys, signsPayload: signsPayload(block)))
    }

    private func keys(_ block: CredentialBlock) -> SignatureSource.AWS.Keys? {
        guard let directive = block.directive(.helper) else {
            guard let access = secret(.accessKey, block), let key = secret(.secretKey, block) else { return nil }
            return .values(access: access, secret: key, token: secret(.sessionToken, block))
        }
        for other in block.said([.accessKey, .secretKey, .sessionToken]) {
            let word = other.name.rawValue
            log.report(at: other.node.name.range, "'\(word)' does not belong beside 'helper', which gives the keys")
        }
        guard let helper = HelperReader(context: context).helper(block) else { return nil }
        guard helper.kind == .aws else {
            log.report(at: directive.range, "beside 'aws', the keys come from 'helper aws'")
            return nil
        }
        return .helper(helper)
    }

    func oauth1(_ block: CredentialBlock, of name: Value) -> SignatureSource? {
        guard let method = block.value(.oauth1).flatMap({ parse.keyword($0, SignatureSource.OAuth1Method.self) }),
            let consumerKey = secret(.consumerKey, block)
        else { return nil }
        let isRSA = method == .rsaSHA1
        let unused: [CredentialDirective] = isRSA ? [.consumerSecret, .tokenSecret] : [.key, .passphrase]
        for directive in block.said(unused) {
            let word = directive.name.rawValue
            log.report(at: directive.node.name.range, "remove '\(word)': \(method.rawValue) does not use it")
        }
        if method == .plaintext, let directive = block.directive(.payload) {
            log.report(at: directive.node.name.range, "remove 'payload': plaintext covers no content")
        }
        if let directive = block.directive(.tokenSecret), block.directive(.accessToken) == nil {
            log.report(at: directive.node.name.range, "'token-secret' needs 'access-token'")
        }
        if !isRSA, let directive = block.directive(.accessToken), block.directive(.tokenSecret) == nil {
            log.report(at: directive.node.name.range, "'access-token' needs 'token-secret'")
        }
        let proof: SignatureSource.OAuth1.Proof
        if isRSA, let key = block.value(.key) {
            proof = .key(path: context.keyFile(key), passphrase: secret(.passphrase, block))
        } else if !isRSA, let directive = block.directive(.consumerSecret) {
            guard let secret = directive.values.first.flatMap(parse.secret) else { return nil }
            proof = .secret(secret)
        } else {
            let word = isRSA ? "key" : "consumer-secret"
            log.report(at: name.range, "the credential \(name.shown) has no '\(word)'")
            return nil
        }
        let token = secret(.accessToken, block).map {
            SignatureSource.OAuth1.Token(identifier: $0, secret: isRSA ? nil : secret(.tokenSecret, block))
        }
        return .oauth1(
            SignatureSource.OAuth1(
                method: method, consumerKey: consumerKey, proof: proof, token: token,
                realm: block.value(.realm).flatMap(realm), signsPayload: signsPayload(block)))
    }

    func message(_ block: CredentialBlock) -> SignatureSource? {
        guard let directive = block.directive(.sign), let agent = block.value(.agent).flatMap(agent) else { return nil }
        guard directive.values.count == 2, directive.values[0].text == "key" else {
            log.report(at: directive.range, "'sign' needs 'key' and a path, such as: sign key bot.pem")
            return nil
        }
        return .message(
            SignatureSource.Message(
                key: context.keyFile(directive.values[1]), passphrase: secret(.passphrase, block), agent: agent))
    }

    private func secret(_ word: CredentialDirective, _ block: CredentialBlock) -> ValueSource? {
        block.value(word).flatMap(parse.secret)
    }

    private func signsPayload(_ block: CredentialBlock) -> Bool {
        block.value(.payload).flatMap { parse.keyword($0, SignatureReader.Payload.self) } != .unsigned
    }

    /// Parses a text for a quoted string without escapes, which many servers do not read.
    private func realm(_ value: Value) -> String? {
        let isPlain = value.text.utf8.allSatisfy {
            $0 >= .space && $0 < .delete && $0 != .quote && $0 != .backslash
        }
        guard isPlain, !value.text.isEmpty else {
            refuse(value, "\(value.shown) is not a realm: it must be ASCII without quotes and backslashes")
            return nil
        }
        return value.text
    }

    /// Parses the URL of an agent, which stays as it is written.
    private func agent(_ value: Value) -> String? {
        guard let endpoint = HTTPEndpoint(value.text), endpoint.isSecure,
            value.text.utf8.allSatisfy({ $0 != .quote && $0 != .backslash })
        else {
            refuse(value, "\(value.shown) is not the https URL of an agent such as https://bot.example.com")
            return nil
        }
        return value.text
    }

    fileprivate enum Payload: String, CaseIterable {
        case signed
        case unsigned
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a region or a service, which are parts of a signature's scope.
    fileprivate var isOfScope: Bool {
        self > .space && self < .delete && self != .quote && self != .backslash && self != .slash
    }
}
