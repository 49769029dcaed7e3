/// The functions of the PAC environment: those of Netscape's "Navigator Proxy Auto-Config File Format" (1996) and
/// Microsoft's IPv6 ones. They are written in ECMAScript 3, so that they behave alike in every engine. An engine
/// provides `dnsResolve` and `dnsResolveEx`.
enum PACHelpers {
    /// The function that answers a question, with URL and host. `ending` defines it.
    static let entry = "findProxyForURL"

    /// The script that defines `myIpAddress` and `myIpAddressEx`. It is evaluated whenever the addresses change.
    static func addresses(first: String, all: [String]) -> String {
        // The values are numeric addresses, which need no escaping.
        """
        this.myIpAddress = function () { return "\(first)"; };
        this.myIpAddressEx = function () { return "\(all.joined(separator: ";"))"; };
        """
    }

    /// The script to evaluate before the PAC file. It assigns its functions, so that the file can declare them again
    /// with `let`.
    static let beginning = """
        alert = function () {};
        getClientVersion = function () { return "1.0"; };
        isPlainHostName = function (host) { return String(host).indexOf(".") < 0; };
        dnsDomainIs = function (host, domain) {
            host = String(host); domain = String(domain);
            return host.length >= domain.length && host.substring(host.length - domain.length) == domain;
        };
        localHostOrDomainIs = function (host, name) { return host == name || String(name).indexOf(host + ".") == 0; };
        dnsDomainLevels = function (host) { return String(host).split(".").length - 1; };
        isResolvable = function (host) { return dnsResolve(host) != null; };
        isResolvableEx = function (host) { return dnsResolveEx(host) != ""; };
        dnsResolveEx = (function (native) {
            return function (host) { return native(host) || ""; };
        })(typeof dnsResolveEx == "function" ? dnsResolveEx : dnsResolve);
        shExpMatch = function (text, pattern) {
            var expression = String(pattern).replace(/\\./g, "\\\\.").replace(/\\*/g, ".*").replace(/\\?/g, ".");
            return new RegExp("^" + expression + "$").test(String(text));
        };
        convert_addr = function (text) {
            var words = attachePAC.words(String(text));
            return words && words.length == 2 ? (words[0] << 16) | words[1] : 0;
        };
        isInNet = function (host, pattern, mask) {
            var words = attachePAC.words(String(host)), net = attachePAC.words(String(pattern));
            var bits = attachePAC.words(String(mask));
            if (!words || words.length != 2) words = attachePAC.words(String(dnsResolve(host)));
            if (!words || !net || !bits || words.length != 2 || net.length != 2 || bits.length != 2) return false;
            return (words[0] & bits[0]) == (net[0] & bits[0]) && (words[1] & bits[1]) == (net[1] & bits[1]);
        };
        isInNetEx = function (host, prefix) {
            var parts = String(prefix).split("/"), words = attachePAC.words(String(host));
            var net = attachePAC.words(parts[0]), length = Number(parts[1]);
            if (!words && parts.length == 2) {
                var found = dnsResolveEx(host).split(";");
                for (var i = 0; i < found.length; i++) {
                    if (attachePAC.words(found[i]) && isInNetEx(found[i], prefix)) return true;
                }
            }
            if (parts.length != 2 || !words || !net || words.length != net.length) return false;
            if (!/^[0-9]{1,3}$/.test(parts[1]) || length > 16 * net.length) return false;
            for (var j = 0; j < net.length; j++) {
                var count = Math.max(0, Math.min(16, length - 16 * j)), bits = (0xFFFF << (16 - count)) & 0xFFFF;
                if ((words[j] & bits) != (net[j] & bits)) return false;
            }
            return true;
        };
        sortIpAddressList = function (list) {
            var texts = String(list).split(";"), entries = [], sorted = [];
            for (var i = 0; i < texts.length; i++) {
                var text = texts[i].replace(/^\\s+|\\s+$/g, ""), words = attachePAC.words(text);
                if (!words) return "";
                entries.push({ text: text, words: words });
            }
            entries.sort(function (left, right) {
                if (left.words.length != right.words.length) return right.words.length - left.words.length;
                for (var i = 0; i < left.words.length; i++) {
                    if (left.words[i] != right.words[i]) return left.words[i] - right.words[i];
                }
                return 0;
            });
            for (var j = 0; j < entries.length; j++) sorted.push(entries[j].text);
            return sorted.join(";");
        };
        weekdayRange = function () {
            var range = attachePAC.range(arguments), now = range.isGMT ? range.now.getUTCDay() : range.now.getDay();
            var first = attachePAC.index("SUNMONTUEWEDTHUFRISAT", range.values[0]);
            var last = range.values.length > 1 ? attachePAC.index("SUNMONTUEWEDTHUFRISAT", range.values[1]) : first;
            return first >= 0 && last >= 0 && range.values.length < 3 && attachePAC.isWithin(now, first, last);
        };
        dateRange = function () {
            var range = attachePAC.range(arguments), values = range.values, count = values.length, now = range.now;
            if (count != 1 && count != 2 && count != 4 && count != 6) return false;
            var today = range.isGMT
                ? { year: now.getUTCFullYear(), month: now.getUTCMonth(), day: now.getUTCDate() }
                : { year: now.getFullYear(), month: now.getMonth(), day: now.getDate() };
            var points = [{}, {}];
            for (var i = 0; i < count; i++) {
                var value = values[i], point = points[count > 1 && i >= count / 2 ? 1 : 0];
                if (typeof value == "string" && !/^[0-9]+$/.test(value)) {
                    point.month = attachePAC.index("JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", value);
                    if (point.month < 0) return false;
                } else if (Number(value) > 31) {
                    point.year = Number(value);
                } else {
                    point.day = Number(value);
                }
            }
            if (count == 1) points[1] = points[0];
            var keys = [today, points[0], points[1]];
            for (var j = 0; j < 3; j++) {
                var key = 0;
                for (var part in { year: 0, month: 0, day: 0 }) {
                    if ((points[0][part] === undefined) != (points[1][part] === undefined)) return false;
                    key = 100 * key + (points[0][part] === undefined ? 0 : keys[j][part]);
                }
                keys[j] = key;
            }
            if (points[0].year !== undefined) return keys[1] <= keys[0] && keys[0] <= keys[2];
            return attachePAC.isWithin(keys[0], keys[1], keys[2]);
        };
        timeRange = function () {
            var range = attachePAC.range(arguments), values = range.values, count = values.length, now = range.now;
            if (count != 1 && count != 2 && count != 4 && count != 6) return false;
            var size = Math.max(1, count / 2), time = range.isGMT
                ? [now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()]
                : [now.getHours(), now.getMinutes(), now.getSeconds()];
            var keys = [time, values.slice(0, size), count == 1 ? values : values.slice(size)];
            for (var i = 0; i < 3; i++) {
                var key = 0;
                for (var j = 0; j < size; j++) key = 60 * key + Number(keys[i][j]);
                keys[i] = key;
            }
            return attachePAC.isWithin(keys[0], keys[1], keys[2]);
        };
        attachePAC = {
            now: function () { return new Date(); },
            range: function (values) {
                var list = [], last = values.length - 1, isGMT = last >= 0 && values[last] === "GMT";
                for (var i = 0; i < (isGMT ? last : last + 1); i++) list.push(values[i]);
                return { values: list, isGMT: isGMT, now: attachePAC.now() };
            },
            index: function (names, name) {
                name = String(name).toUpperCase();
                var place = name.length == 3 ? names.indexOf(name) : -1;
                return place % 3 == 0 ? place / 3 : -1;
            },
            isWithin: function (value, first, last) {
                return first <= last ? first <= value && value <= last : value >= first || value <= last;
            },
            words: function (text) {
                var match = /^(.*:)?([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})\\.([0-9]{1,3})$/.exec(text), end = [];
                if (match) {
                    for (var i = 2; i < 6; i++) if (Number(match[i]) > 255) return null;
                    end = [256 * match[2] + Number(match[3]), 256 * match[4] + Number(match[5])];
                    if (!match[1]) return end;
                    text = match[1] + "0:0";
                }
                var halves = text.split("::");
                if (text.indexOf(":") < 0 || halves.length > 2) return null;
                var words = [];
                for (var half = 0; half < halves.length; half++) {
                    var list = halves[half] == "" ? [] : halves[half].split(":"), numbers = [];
                    for (var j = 0; j < list.length; j++) {
                        if (!/^[0-9A-Fa-f]{1,4}$/.test(list[j])) return null;
                        numbers.push(parseInt(list[j], 16));
                    }
                    if (half == 1) while (words.length + numbers.length < 8) words.push(0);
                    words = words.concat(numbers);
                }
                if (words.length != 8) return null;
                return end.length == 2 ? words.slice(0, 6).concat(end) : words;
            }
        };
        """

    /// The script to evaluate after the PAC file. It throws if the file lacks FindProxyForURL.
    static let ending = """
        this.\(entry) = (function () {
            var find = typeof FindProxyForURLEx == "function" ? FindProxyForURLEx
                : typeof FindProxyForURL == "function" ? FindProxyForURL : null;
            if (!find) throw new Error("it has no function FindProxyForURL(url, host)");
            return function (url, host) {
                var result = find(url, host);
                if (typeof result == "string") return result;
                throw new Error("FindProxyForURL returns " + (result === null ? "null" : typeof result)
                    + " for " + host + " where a text is expected, such as DIRECT");
            };
        })();
        """
}
