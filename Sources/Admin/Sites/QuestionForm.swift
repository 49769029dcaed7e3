import Authentication
import Bytes
import Challenges
import Credentials
import Crypto
import HTTP
import IO
import Model

/// An operator's answer as sent: `id`, `act`, `name`, `persistence` and `until`, with the password apart.
struct QuestionForm {
    struct Flaw: Error {
        let sentence: String
    }

    let question: Int
    let answer: OperatorAnswer
    /// The last day of an exception.
    let until: Day

    /// The days for which an exception is valid by default.
    private static let usualDays = 30

    init(_ query: ControlSite.Query, secret: [UInt8], today: Day) throws(Flaw) {
        guard let id = query["id"].flatMap({ Int($0) }) else {
            throw Flaw(sentence: "the ID of the question is missing")
        }
        question = id
        guard let persistence = Persistence(rawValue: query["persistence"] ?? Persistence.session.rawValue) else {
            throw Flaw(sentence: "'persistence' must be none, session or permanent")
        }
        answer = OperatorAnswer(try Self.act(query, secret), persistence: persistence)
        let usual = Day(number: today.number + Self.usualDays)
        guard let day = Day(query["until"] ?? "\(usual)"), day >= today else {
            throw Flaw(sentence: "'until' must be a day in the future, such as \(usual)")
        }
        until = day
    }

    /// Gives the answer in a query.
    static func put(
        _ query: ControlSite.Query, secret: [UInt8], to state: ChallengeState, by actor: AuditEvent.Actor
    ) async -> AdminResponse {
        let form: QuestionForm
        do throws(Flaw) {
            form = try QuestionForm(query, secret: secret, today: Day(of: SystemClock.wallTime))
        } catch { return .text(.badRequest, error.sentence) }
        do throws(OperatorAnswer.Failure) {
            let asked = try await state.answer(form.question, with: form.answer, until: form.until, by: actor)
            return .text(.ok, asked.words(after: form.answer, until: form.until))
        } catch { return .text(.conflict, "\(error)") }
    }

    private static func act(_ query: ControlSite.Query, _ secret: [UInt8]) throws(Flaw) -> OperatorAnswer.Act {
        let name = query["name"] ?? ""
        switch query["act"] {
        case "use":
            if name.isEmpty { throw Flaw(sentence: "'use' needs the name of a credential") }
            return .use(name)
        case "user":
            if name.isEmpty { throw Flaw(sentence: "'user' needs a user's name") }
            if secret.isEmpty { throw Flaw(sentence: "the password is empty") }
            // RFC 7617 section 2: no client can send a control character.
            if (Array(name.utf8) + secret).contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                throw Flaw(sentence: "the user or the password has a control character in it")
            }
            var bytes = secret
            return .password(user: name, Secret(wiping: &bytes))
        case "trust": return .trust
        case "reject": return .reject
        case "cancel": return .cancel
        default: throw Flaw(sentence: "the answer must be use, user, trust, reject or cancel")
        }
    }

    /// The open questions as text.
    enum Table {
        static func text(_ questions: [OperatorQuestion], at now: WallTime) -> String {
            questions.map { question in
                var lines = ["\(question.id)  \(question.words)"]
                lines += question.details.map { "   \($0)" }
                let request = [question.path.map { "path \($0)" }, question.application.map { "by \($0)" }]
                let words = request.compactMap(\.self).joined(separator: " ")
                if !words.isEmpty { lines.append("   \(words)") }
                lines += ChallengeTable.response(question.response).map { "   \($0)" }
                if let pin = question.pin { lines.append("   key \(pin)") }
                if let rule = question.rule { lines.append("   rule \(rule) asks") }
                if question.failures > 0 {
                    let user = question.user.map { " for \($0)" } ?? ""
                    lines.append("   \(question.failures) refused\(user)")
                } else if let user = question.user {
                    lines.append("   proposed user: \(user)")
                }
                if !question.credentials.isEmpty {
                    lines.append("   credentials: \(question.credentials.joined(separator: ", "))")
                }
                let requests = question.waiting == 1 ? "1 request" : "\(question.waiting) requests"
                let clients = question.clients.joined(separator: ", ")
                lines.append("   \(requests) of \(clients), since \(max(0, now - question.since).seconds) s")
                return lines.joined(separator: "\n") + "\n"
            }.joined(separator: "\n")
        }
    }
}
