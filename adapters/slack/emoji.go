package slack

import "strings"

// emoji are the marks that people set on messages most, by Slack's names. Of
// several names for one, the first is used to set it.
var emoji = []struct{ name, unicode string }{
	{"+1", "👍"}, {"thumbsup", "👍"}, {"-1", "👎"}, {"thumbsdown", "👎"}, {"eyes", "👀"}, {"white_check_mark", "✅"},
	{"heavy_check_mark", "✔️"}, {"ballot_box_with_check", "☑️"}, {"x", "❌"}, {"no_entry", "⛔"}, {"no_entry_sign", "🚫"},
	{"octagonal_sign", "🛑"}, {"stop_sign", "🛑"}, {"warning", "⚠️"}, {"question", "❓"}, {"grey_question", "❔"}, {"exclamation", "❗"},
	{"heavy_exclamation_mark", "❗"}, {"bangbang", "‼️"}, {"heart", "❤️"}, {"broken_heart", "💔"}, {"tada", "🎉"}, {"clap", "👏"},
	{"raised_hands", "🙌"}, {"pray", "🙏"}, {"wave", "👋"}, {"ok_hand", "👌"}, {"muscle", "💪"}, {"point_up", "☝️"}, {"point_down", "👇"},
	{"fire", "🔥"}, {"100", "💯"}, {"rocket", "🚀"}, {"star", "⭐"}, {"sparkles", "✨"}, {"zap", "⚡"}, {"boom", "💥"}, {"bulb", "💡"},
	{"hourglass", "⌛"}, {"hourglass_flowing_sand", "⏳"}, {"stopwatch", "⏱️"}, {"alarm_clock", "⏰"}, {"arrows_counterclockwise", "🔄"},
	{"repeat", "🔁"}, {"mag", "🔍"}, {"lock", "🔒"}, {"unlock", "🔓"}, {"key", "🔑"}, {"bell", "🔔"}, {"no_bell", "🔕"}, {"memo", "📝"},
	{"pencil", "📝"}, {"pushpin", "📌"}, {"paperclip", "📎"}, {"wastebasket", "🗑️"}, {"bug", "🐛"}, {"robot_face", "🤖"}, {"wrench", "🔧"},
	{"thinking_face", "🤔"}, {"smile", "😄"}, {"slightly_smiling_face", "🙂"}, {"grinning", "😀"}, {"joy", "😂"}, {"sob", "😭"},
	{"cry", "😢"}, {"disappointed", "😞"}, {"angry", "😠"}, {"rage", "😡"}, {"open_mouth", "😮"}, {"scream", "😱"}, {"sunglasses", "😎"},
	{"sleeping", "😴"}, {"zzz", "💤"}, {"see_no_evil", "🙈"}, {"partying_face", "🥳"}, {"saluting_face", "🫡"}, {"coffee", "☕"},
	{"one", "1️⃣"}, {"two", "2️⃣"}, {"three", "3️⃣"}, {"four", "4️⃣"}, {"five", "5️⃣"}, {"heavy_plus_sign", "➕"}, {"heavy_minus_sign", "➖"},
	{"speech_balloon", "💬"}, {"mute", "🔇"}, {"new", "🆕"}, {"sos", "🆘"}, {"red_circle", "🔴"}, {"large_green_circle", "🟢"},
}

// unicodeOf is an emoji by Slack's name, without a tone of skin. One that is
// not known, a workspace's own among them, stays a name between colons.
func unicodeOf(name string) string {
	name, _, _ = strings.Cut(name, "::")
	for _, e := range emoji {
		if e.name == name {
			return e.unicode
		}
	}
	return ":" + name + ":"
}

// nameOf is Slack's name of an emoji, and whether it is known.
func nameOf(unicode string) (string, bool) {
	if name, ok := strings.CutPrefix(unicode, ":"); ok {
		return strings.TrimSuffix(name, ":"), true
	}
	for _, e := range emoji {
		if bare(e.unicode) == bare(unicode) {
			return e.name, true
		}
	}
	return "", false
}

// bare is an emoji without the mark that asks for its coloured form, which
// people and programs leave out at will.
func bare(emoji string) string { return strings.ReplaceAll(emoji, "\ufe0f", "") }
