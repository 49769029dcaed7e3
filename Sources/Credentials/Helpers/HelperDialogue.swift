import Authentication
import Bytes
import Crypto
import IO
import Model

/// Asks helpers, each by its protocol. Blocks: do not use it on a loop.
struct HelperDialogue {
    private let runner: CommandRunner

    init(_ runner: CommandRunner) { self.runner = runner }

    func answer(of helper: HelperSource, to question: HelperQuestion) throws(CredentialError) -> HelperOutput.Answer {
        switch helper.kind {
        case .plain, .aws: try ask(helper, question)
        case .kubectl: try ask(helper, question, more: ["KUBERNETES_EXEC_INFO=\(Self.executionInfo)"])
        case .git:
            try ask(helper, question, "get") {
                HelperQuestion.Git.action("get", of: helper.command)
                    + HelperQuestion.Git.get($0, question)
            }
        case .docker: try docker(helper, question)
        case .bazel:
            try ask(helper, question, "get") {
                Array("{\"uri\":\("\($0.helperURL)\(question.path ?? "/")".jsonString)}".utf8)
            }
        case .cargo: try ask(helper, question, "--cargo-plugin") { Self.cargoRequest($0, question.challenges) }
        }
    }

    /// The object by which Kubernetes tells a plugin about its run. Here it says that the plugin cannot ask a person.
    private static let executionInfo =
        #"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false}}"#

    /// The request to a provider of Cargo: a token to read from a registry.
    private static func cargoRequest(_ origin: Origin, _ challenges: [String]) -> [UInt8] {
        let headers = challenges.prefix(HelperQuestion.Git.mostChallenges).map { "WWW-Authenticate: \($0)".jsonString }
        let registry =
            "{\"index-url\":\("sparse+\(origin.helperURL)/".jsonString),\"headers\":[\(headers.joined(separator: ","))]}"
        return Array(
            #"{"v":1,"registry":\#(registry),"kind":"get","operation":"read","args":[]}"#.utf8) + [.lineFeed]
    }

    /// Logins are kept by host, or by the URL that `docker login` was given.
    private func docker(_ helper: HelperSource, _ question: HelperQuestion) throws(CredentialError)
        -> HelperOutput.Answer
    {
        do throws(CredentialError) {
            return try ask(helper, question, "get") { Array($0.helperURL.utf8) }
        } catch {
            guard case .helper(_, _, let failure) = error, failure.mayMeanNone else { throw error }
            return try ask(helper, question, "get") { Array($0.helperHost.utf8) }
        }
    }

    /// - Parameter input: the program's input for a server.
    private func ask(
        _ helper: HelperSource, _ question: HelperQuestion, _ action: String? = nil, more: [String] = [],
        _ input: (Origin) -> [UInt8] = { _ in [] }
    ) throws(CredentialError) -> HelperOutput.Answer {
        var output = try runner.output(
            of: helper.command, action, input: question.origin.map(input) ?? [], for: question.name, more: more)
        defer { _ = Secret(wiping: &output) }
        do throws(HelperOutput.Fault) {
            let answer = try HelperOutput.read(output, as: helper.kind)
            if let end = answer.end, end <= SystemClock.wallTime { throw .ended }
            return answer.for(question)
        } catch { throw .helper(credential: question.name, program: helper.command.program, .output(error)) }
    }
}

extension HelperOutput.Answer {
    var user: String? {
        if case .password(let user, _) = content { user } else { nil }
    }

    /// Whether no later request is sent with it.
    var isForOneRequest: Bool { continues || isEphemeral && whole != nil || isEphemeral && hasFields }

    private var hasFields: Bool { if case .fields = content { true } else { false } }

    /// The answer as it is sent: by its scheme, unless the server asks for another one, or it is for one request.
    fileprivate func `for`(_ question: HelperQuestion) -> HelperOutput.Answer {
        guard let whole, let scheme else { return self }
        let isAsked = question.challenges.isEmpty || question.challenges.contains { $0.names(scheme) }
        guard isForOneRequest || question.isStep || !isAsked else { return self }
        var answer = self
        answer.content = .fields(authorization: whole, [])
        return answer
    }

    /// The fields that are sent as they are; nil if the answer is another kind of credential.
    ///
    /// - Parameter successor: makes the source of the next answer.
    func givenAnswer(_ successor: () -> any GivenAnswer.Next) -> GivenAnswer? {
        guard case .fields(let authorization, let fields) = content else { return nil }
        return GivenAnswer(
            authorization: authorization, fields: fields, isEphemeral: isEphemeral,
            successor: continues ? successor() : nil)
    }
}

extension String {
    /// Whether the challenge is of that scheme, which is in lower case.
    fileprivate func names(_ scheme: String) -> Bool {
        lowercased().split(separator: " ", maxSplits: 1).first.map { $0 == scheme } ?? false
    }
}
