// Package coretest specifies the appliance by talks: scripts in which people
// write, models answer, platforms fail and the process dies, each with what
// must be seen afterwards. The real store, bus, mailboxes, runs and prompts
// are wired as cmd/bellhop wires them, over store/memkv, scripted models and a
// chat platform in memory, in a testing/synctest bubble where hours cost
// nothing. After every line the whole ledger and the platform are checked
// against the invariants of ARCHITECTURE.md.
//
// What the talks prove of the model behind it all is listed, sentence by
// sentence, in testdata/README.md.
//
// The package is imported by tests only. Its goroutines belong to the bubble
// of their talk and have ended with it.
//
// # Files
//
// A talk is a txtar file: first the script, then golden sections. A line that
// begins with # is a comment. Every line runs until everything waits; time
// passes only with advance and rest.
//
// # Setting the scene
//
// These lines stand before all others. Each has a default, so a talk may begin
// at once: one bot chief, one platform chat with once=edit, and alice its
// owner.
//
//	bot HANDLE [name= workers= busy=queue|steer steps= run_time= history=TOKENS/MESSAGES tools= instructions=
//	    mode=primary|subagent]
//	adapter NAME [once=edit|key|readback|none max= pieces= heavy= mark= replies= threads= edits= signs= reads= buttons= branches= topics= reply=mention|thread|always]
//	owner PERSON         may do everything
//	admin PERSON         may do more than a member
//	approvers WHO…       who may approve; without it, the requester
//	member PERSON        may talk; anybody else is a stranger
//	guest PERSON         the platform says that a person is a guest
//	webhook HANDLE [description= listens=]    an external actor
//	zone PERSON ZONE     the platform tells a person's time zone
//	agent HANDLE         the default bot; without it, the first
//	bind PLACE [agent= reply= thinking=off|quote workspace= context_messages= mode=default|smart|bypass]
//	rule all|bind|HANDLE allow|ask|deny TOOL [role=ROLE] [PATTERN]    for all bots, at
//	                     the places of the bind line before, or for one bot
//	classifier THRESHOLD [MODEL]    a model chooses who answers what names nobody: one
//	                     that llm speaks for, else the default bot's
//	price MODEL INPUT OUTPUT    what one that llm speaks for costs, in USD per million
//	                     tokens; of the others it is not known
//	max_runs N           most runs at once
//	per_minute N         most messages of a person in a minute; without it, any number
//	pairing              strangers are offered codes: 0000-0001, 0000-0002 and so on
//	unowned              nobody is the owner; every life has a code for the first one
//	max_hops N           most hand-offs without a person
//	each NAME VALUE…     the talk is held once for each value, which $NAME in
//	                     later lines stands for, and must look the same
//
// An adapter with pieces shows no more of them for an outcome: a longer one ends in
// a file. One that is heavy takes no files after all; with buttons=refused, one that
// has buttons takes none.
//
// # Places and text
//
// A place is dm (the person's direct conversation), dm/PERSON,
// dm/PERSON/topic, #channel or
// #channel/topic, on the first adapter unless it begins with "NAME:". The owner
// is told of trouble in #owner. Our account is @bellhop; people are mentioned
// by their names. Text is the rest of the line, or quoted as in Go, or
// N*"quoted" for N times the text.
//
// An ID is a message's number in its channel, or first or last, the oldest and the
// newest of a person's, ours, the newest of ours, or card, the newest with buttons;
// if there is none, nothing happens.
//
// # Lines
//
//	say PLACE PERSON [re=ID] [quote=…] [file=NAME] TEXT
//	aside PLACE PERSON [file=NAME] TEXT   said where our account is not told of it
//	send HANDLE PLACE|THREAD [key=…] [re=ID] TEXT    what an external actor says
//	reply HANDLE ASK TEXT        what an external actor answers to a question
//	edit PLACE ID TEXT   a person changes a message
//	delete PLACE ID      anybody's message goes; people's with an event
//	react PLACE PERSON ID EMOJI    a person marks a message
//	unreact PLACE PERSON ID EMOJI  … and takes the mark away
//	press PLACE PERSON ID BUTTON   a person presses a button, by its label, or one
//	                     that was or never was there, by its value
//	invite #CHANNEL PERSON     a person lets us into a channel
//	garble PLACE JSON    an event comes that cannot be decoded
//	again [ID]           the platform delivers its last event (a message) again
//	llm BOT [always] REPLY    what the model says next; see script.Parse
//	advance DURATION     time passes
//	rest                 time passes until all work is done
//	forget tasks|transcripts    what has ended is kept no more; nobody's message may
//	                     have named a bot, for the checker knows of no others by then
//	stop, start          an orderly stop, and a start
//	kill, crash          kill -9; crash starts again at once
//	crash WHEN MOMENT [N|every]   the process dies at the N-th such moment, and
//	                     starts again
//	crash off            … no more, nor is anybody held any more
//	hold WHEN MOMENT [N] whoever comes to the moment waits there for a release
//	release
//	fault OP [N|every] HOW    the platform's N-th such call from now fails
//	fault commit [N|every] before|after|full
//	fault hook [N|every] notsent|refused|lost|hang    the N-th post to a webhook from now fails
//	fault OP|commit|hook off
//	move #FROM #TO [silently]    a channel gets another id
//	revoke ADAPTER       its credentials are worthless from now on
//	expect PLACE has|lacks TEXT
//	expect asked BOT N   the model has been called N times so far
//	expect stored|forgotten TEXT
//	expect queued N      so many messages wait
//
// WHEN is before or after. A MOMENT is one of the ledger's transactions
// (accept, sort, begin, opened, prepared, step, join, settle, chunk, receipt, bury, moved, say, attempted), a model's
// call (before: it is asked; after: it has answered), a tool's call (before and
// after its effect), or a call of the platform, like OP: open (a status line),
// post (a text of its own), edit (the text in place of a status line), update
// (a preview), resolve (what became of a lost one), read (what was said
// there), or a post to a webhook: hook. After such a call, it is
// shown and the answer is lost. NAME:OP is that of another adapter.
//
// HOW is rate [TIME [global]], notsent, lost (done, and the answer is lost),
// unknown (not done, and no answer), hang (no answer for 30 s, not done), slow
// [TIME] (done after a while), refused, gone, or fatal. A resolve that fails
// knows nothing: it is unknown, or rate, hang or slow. A read that hangs ends
// with the patience of whoever waits for it.
//
// # Golden sections
//
//	chat/PLACE    what a person sees there
//	previews/PLACE  what stood there for a while: since when, and in which message
//	owner         what the owner is told
//	llm/BOT       the calls of its model, without the system prompt
//	system/BOT    that prompt, the same in every call
//	ledger        items, runs and posts with their states
//	activity      what the activity log has, an event and its sentence a line,
//	              but for what was shown and which adapters are up
//	commits       the transactions of each line, and how many commits they cost
//	hook/HANDLE   what an external actor was told
//	effects       what tools did, and what came of a send
//
// Only sections that stand in the file are compared. The flag -update rewrites
// them.
package coretest
