import Crypto
import IO

/// The user and the secret for a server, from the command line's options, the terminal or standard input.
struct LoginEntry {
    let user: String?
    /// The file of the secret; `-` is standard input; nil: the terminal, or standard input where that is none.
    let file: String?

    private static let longest = 64 << 10

    func read(for wanted: WantedLogin) throws(CommandError) -> FirstLogin {
        var name: String?
        if let prompt = wanted.userPrompt { name = try self.name(prompt) }
        return FirstLogin(wanted: wanted, user: name, secret: try secret(of: wanted))
    }

    private func name(_ prompt: String) throws(CommandError) -> String {
        let name: String
        if let user { name = user } else { name = try ask(prompt) }
        guard !name.isEmpty, Console.printable(name) == name else {
            throw .failed("the user's name is empty or has a control character in it")
        }
        return name
    }

    private func ask(_ prompt: String) throws(CommandError) -> String {
        guard Terminal.isStandardInput else {
            throw .failed("there is no terminal to ask for the user: use --user NAME")
        }
        let answer: String?
        do throws(IOError) { answer = try Terminal().ask(prompt) } catch { throw .failed("\(error)") }
        guard let answer else { throw .failed("no user was given") }
        return answer
    }

    private func secret(of wanted: WantedLogin) throws(CommandError) -> Secret {
        var bytes = try bytes(of: wanted)
        let isUsable = !bytes.isEmpty && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        let isText = String(validating: bytes, as: UTF8.self) != nil
        let secret = Secret(wiping: &bytes)
        if secret.count == 0 { throw .failed("\(wanted.noun) is empty") }
        guard isUsable, isText else { throw .failed("\(wanted.noun) has a character that cannot be sent") }
        return secret
    }

    private func bytes(of wanted: WantedLogin) throws(CommandError) -> [UInt8] {
        if file == nil, Terminal.isStandardInput {
            let answer: [UInt8]?
            do throws(IOError) { answer = try Terminal().askUnseen(wanted.prompt) } catch { throw .failed("\(error)") }
            guard let answer else { throw .failed("\(wanted.noun) was not given") }
            return answer
        }
        return try SecretFile(path: file ?? "-", noun: wanted.noun).readLine(limit: Self.longest)
    }
}
