import Authentication
import Challenges
import Model

extension JSONText {
    mutating func challenge(_ entry: JournalEntry) {
        object { json in
            json.space(entry.key.space)
            json.member(ChallengeField.scheme, entry.key.scheme)
            json.member(ChallengeField.outcome, entry.outcome.rawValue)
            json.member(ChallengeField.challenges, entry.lines)
            json.member(ChallengeField.rule, rule: entry.rule)
            json.member(ChallengeField.disposition, entry.disposition)
            json.member(ChallengeField.rules, entry.rules)
            json.member(ChallengeField.credential, entry.credential)
            json.member(ChallengeField.failures, entry.failures)
            json.response(entry.response)
            json.member(ChallengeField.reason, entry.reason)
            json.member(ChallengeField.remedy, entry.remedy)
            json.member(ChallengeField.suggestion, entry.suggestion?.split(separator: "\n").map(String.init) ?? [])
            json.member(ChallengeField.addable, SuggestedLines(entry)?.need.rawValue)
            json.member(ChallengeField.solved, time: entry.solved)
            json.member(ChallengeField.first, time: entry.first)
            json.member(ChallengeField.last, time: entry.last)
            json.member(ChallengeField.count, entry.count)
        }
    }

    mutating func response(_ response: ResponseExcerpt?) {
        guard let response else { return }
        object(ChallengeField.response) { json in
            json.member(ResponseField.status, response.status)
            json.member(ResponseField.fields, response.fields)
            json.member(ResponseField.text, response.text)
        }
    }

    mutating func space(_ space: ProtectionSpace) {
        member(SpaceField.host, space.host)
        member(SpaceField.port, Int(space.port))
        member(SpaceField.protocol, space.protocol.rawValue)
        member(SpaceField.proxy, space.isProxy)
        member(SpaceField.realm, space.realm)
        member(SpaceField.method, space.authenticationMethod.rawValue)
    }

    mutating func question(_ question: OperatorQuestion) {
        object { json in
            json.member(QuestionField.id, question.id)
            json.member(QuestionField.challenge, question.words)
            json.space(question.space)
            json.member(QuestionField.details, question.details)
            json.member(QuestionField.path, question.path)
            json.member(QuestionField.application, question.application)
            json.response(question.response)
            json.member(QuestionField.pin, question.pin.map { "\($0)" })
            json.member(QuestionField.rule, rule: question.rule)
            json.member(QuestionField.user, question.user)
            json.member(QuestionField.credentials, question.credentials)
            json.member(QuestionField.failures, question.failures)
            json.member(QuestionField.since, time: question.since)
            json.member(QuestionField.clients, question.clients)
            json.member(QuestionField.waiting, question.waiting)
        }
    }

    mutating func answer(_ answer: OperatorAnswer.Standing) {
        object { json in
            json.member(AnswerField.id, answer.id)
            json.member(AnswerField.challenge, answer.challenge)
            json.space(answer.space)
            json.member(AnswerField.answer, answer.words)
            json.member(AnswerField.rule, rule: answer.rule)
            json.member(AnswerField.since, time: answer.since)
        }
    }
}
