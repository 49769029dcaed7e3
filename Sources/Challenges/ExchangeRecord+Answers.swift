import Authentication
import Bytes
import Model
import Rules
import Telemetry

extension ExchangeRecord {
    /// An answer goes to the challenger, or went.
    func note(_ answer: AnswerRecord, to challenger: Challenger) {
        if challenger.isProxy { parentAnswer = answer } else { self.answer = answer }
    }

    /// The same; the rule is the one that was noted last.
    func note(_ prepared: PreparedAnswer, to challenger: Challenger) {
        let former = answer(to: challenger)
        let (rule, line) = (former?.rule, former?.ruleLine ?? 0)
        if let latest = challenger.latestRecord, latest.is(of: prepared, by: rule, at: line) {
            return note(latest, to: challenger)
        }
        let record = AnswerRecord(prepared, by: rule, at: line)
        challenger.latestRecord = record
        note(record, to: challenger)
    }

    /// That rule decides about the challenger's challenges from now on.
    public func note(_ rule: RuleReference?, about challenger: Challenger) {
        let former = answer(to: challenger)
        note(
            AnswerRecord(
                scheme: former?.scheme, credential: former?.credential, dated: former?.dated ?? [],
                rule: rule?.label, ruleLine: rule?.line ?? 0),
            to: challenger)
    }

    private func answer(to challenger: Challenger) -> AnswerRecord? { challenger.isProxy ? parentAnswer : answer }

    /// An answer went out.
    func countAnswer(to challenger: Challenger) { if !challenger.isProxy { attempts += 1 } }
}

extension AnswerRecord {
    convenience init(_ prepared: PreparedAnswer, by rule: RuleReference?) {
        self.init(prepared, by: rule?.label, at: rule?.line ?? 0)
    }

    convenience init(_ prepared: PreparedAnswer, by rule: String?, at line: Int) {
        let answer = prepared.answer
        self.init(
            scheme: AnsweredScheme(answer.space.authenticationMethod), credential: answer.credential.version.name,
            dated: prepared.dated, rule: rule, ruleLine: line)
    }

    /// Whether this is what the initializer with these arguments makes.
    fileprivate func `is`(of prepared: PreparedAnswer, by rule: String?, at line: Int) -> Bool {
        ruleLine == line && dated == prepared.dated
            && scheme == AnsweredScheme(prepared.answer.space.authenticationMethod)
            && credential?.hasSameBytes(as: prepared.answer.credential.version.name) == true && self.rule == rule
    }
}
