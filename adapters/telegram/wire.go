package telegram

import "github.com/go-telegram/bot/models"

// What updates hold, as far as it is read. The library's types for them know
// every kind of message there is, which costs a decoder half a megabyte of
// memory, and refuse all of an update for one member of a union that they do not
// know; Telegram gets new ones every month.

// rawUpdate is one event. https://core.telegram.org/bots/api#update
type rawUpdate struct {
	ID            int64       `json:"update_id"`
	Message       *rawMessage `json:"message"`
	EditedMessage *rawMessage `json:"edited_message"`
}

// rawMessage is what somebody wrote, or what happened in a chat.
type rawMessage struct {
	ID              int          `json:"message_id"`
	MessageThreadID int          `json:"message_thread_id"`
	IsTopicMessage  bool         `json:"is_topic_message"`
	Chat            models.Chat  `json:"chat"`
	From            *models.User `json:"from"`
	SenderChat      *models.Chat `json:"sender_chat"`
	Date            int          `json:"date"`
	EditDate        int          `json:"edit_date"`
	MigrateToChatID int64        `json:"migrate_to_chat_id"`

	Text            string                 `json:"text"`
	Entities        []models.MessageEntity `json:"entities"`
	Caption         string                 `json:"caption"`
	CaptionEntities []models.MessageEntity `json:"caption_entities"`
	media

	TopicCreated *topicName `json:"forum_topic_created"`
	TopicEdited  *topicName `json:"forum_topic_edited"`

	ForwardOrigin  *origin        `json:"forward_origin"`
	ReplyToMessage *rawMessage    `json:"reply_to_message"`
	Quote          *textQuote     `json:"quote"`
	ExternalReply  *externalReply `json:"external_reply"`
}

// topicName is the name that a topic has got.
type topicName struct {
	Name     string `json:"name"`
	Implicit bool   `json:"is_name_implicit"` // nobody has given it
}

// media are the files of a message.
type media struct {
	Photo     []file   `json:"photo"` // the sizes of one picture
	Document  *file    `json:"document"`
	Voice     *file    `json:"voice"`
	Audio     *file    `json:"audio"`
	Video     *file    `json:"video"`
	VideoNote *file    `json:"video_note"`
	Sticker   *sticker `json:"sticker"`
}

type file struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name"`
	MimeType     string `json:"mime_type"`
	FileSize     int64  `json:"file_size"`
	Width        int64  `json:"width"`
	Height       int64  `json:"height"`
}

type sticker struct {
	Emoji string `json:"emoji"`
}

// origin is who wrote what is forwarded: a user, a user who hides, a chat, or a
// channel.
type origin struct {
	SenderUser     *models.User `json:"sender_user"`
	SenderUserName string       `json:"sender_user_name"`
	SenderChat     *models.Chat `json:"sender_chat"`
	Chat           *models.Chat `json:"chat"`
}

type textQuote struct {
	Text string `json:"text"`
}

// externalReply is a message of another chat that is replied to.
type externalReply struct {
	Origin origin `json:"origin"`
	media
}
