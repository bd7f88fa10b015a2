// Package serve is the web server of attention view: a page, and the numbers that it draws.
//
// All paths begin with a random token, /TOKEN/, because every user of a machine can reach its loopback. Another path is
// a 404 without a body. A request whose Host is not the address, or whose Origin is another page's, is refused, so that
// no page from elsewhere can read this one (DNS rebinding). A URL never reaches the file system: assets come from
// package web, and all other answers are computed.
//
// Clients get a quarter of the descriptors that the process may open, so that a run that trains beside the page always
// finds some. If a connection exceeds this limit, the server closes one that has not sent the token. The number of
// concurrent computations is limited. A request's body is read before the request counts for this limit, and its answer
// is written afterwards. Requests whose body does not arrive, and answers that no client reads, are ended after some
// seconds. Streams of events are not ended. Only the URL is printed.
//
//	GET  view                      what there is to see: models, whether there is a run, colours of pictures; JSON
//	POST forward                   a text for a model, and what to change there; the answer describes the pass; JSON
//	POST page                      the state of the page, and passes; the answer is the page with them as one file; HTML
//	GET  head?pass&layer&head      one head: queries, keys, log-sum-exps, shown keys; packed
//	GET  overview?pass&layer&head&side  the largest weight of each block of a head, at most side × side; packed
//	GET  thumbnails?pass&layer     thumbnail and statistics of each head of a layer; packed
//	GET  tells?pass                how much each head tells on each token, and where most is told; packed
//	GET  values?pass&layer&head    the values of one head; packed
//	GET  journey?pass&layer&token  a token's way through the model and a layer: the numbers of each step; packed
//	GET  next?pass&at&temperature&draw  the likeliest tokens at a place, and one drawn by a number from 0 to 1; JSON
//	GET  section?number&sentence   a section of the chapter on a sentence, the chapter's without one; JSON
//	GET  reverse?text              what models write for a string that they are to reverse, and where they look; packed
//	GET  training                  the state and the curves of a run; JSON
//	GET  events                    an event for each change of the run, and for the end; server-sent events
//	GET  runs                      the runs of a folder; JSON
//	GET  curves?run                the state and the curves of one of them; JSON
//	*    at/RUN/PATH               the answer to PATH of a page that shows one of them
//	GET  watched                   how the run's weights moved; packed
//
// A packed answer is a length n (uint32, little-endian), n bytes of JSON, padded with blanks so that 4 + n is a
// multiple of 4, and the arrays (float32 or uint32, little-endian) that its member "arrays" lists by name and length in
// their order; its member "about" describes them. A pass has the number of its model and its request. The server keeps
// the last few passes. For an older pass the answer is {"gone": true}, and the page sends its request again.
package serve
