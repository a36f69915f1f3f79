package discord

import (
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

// permissions are what the adapter needs in a server, and no more: it shows no
// previews of links and no emojis of other servers, and reopens threads as
// anybody may who can write in them.
const permissions = discordgo.PermissionViewChannel |
	discordgo.PermissionSendMessages |
	discordgo.PermissionSendMessagesInThreads |
	discordgo.PermissionCreatePublicThreads |
	discordgo.PermissionReadMessageHistory |
	discordgo.PermissionAttachFiles |
	discordgo.PermissionAddReactions

// Invite is the link that installs an application's bot in a server.
func Invite(applicationID string) string {
	return "https://discord.com/oauth2/authorize?" + url.Values{
		"client_id":   {applicationID},
		"scope":       {"bot applications.commands"},
		"permissions": {strconv.FormatInt(permissions, 10)},
	}.Encode()
}
